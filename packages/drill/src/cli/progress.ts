/** A line that is written over and over while somebody is looking, and gone at the end. */
export class ProgressLine {
  readonly #write: ((text: string) => void) | undefined;

  constructor(write: ((text: string) => void) | undefined) {
    this.#write = write;
  }

  show(text: string): void {
    this.#write?.(`\r\u001B[2K${text.slice(0, 78)}`);
  }

  clear(): void {
    this.#write?.('\r\u001B[2K');
  }
}
