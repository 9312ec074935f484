/** Numbers by tool and one more label, kept until they are exported. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  add(tool: string, count: number, label = ''): void {
    let ofTool = this.#counts.get(tool);
    if (!ofTool) {
      ofTool = new Map<string, number>();
      this.#counts.set(tool, ofTool);
    }
    ofTool.set(label, (ofTool.get(label) ?? 0) + count);
  }

  take(each: (tool: string, label: string, count: number) => void): void {
    for (const [tool, labels] of this.#counts) {
      for (const [label, count] of labels) each(tool, label, count);
    }
    this.#counts.clear();
  }
}
