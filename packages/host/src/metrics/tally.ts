/** Numbers by tool and code, kept until somebody takes them. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  add(tool: string, count: number, code = ''): void {
    let ofTool = this.#counts.get(tool);
    if (!ofTool) {
      ofTool = new Map<string, number>();
      this.#counts.set(tool, ofTool);
    }
    ofTool.set(code, (ofTool.get(code) ?? 0) + count);
  }

  take(each: (tool: string, code: string, count: number) => void): void {
    for (const [tool, codes] of this.#counts) {
      for (const [code, count] of codes) each(tool, code, count);
    }
    this.#counts.clear();
  }
}
