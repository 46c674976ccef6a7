// csv-parse, a piece of text at a time.

import type { TransformCallback } from 'node:stream'
import { type Options, Parser } from 'csv-parse'
import { LIMITS } from '../limits.ts'

/** A line between two line breaks, quoted or not, that is longer than any record may be. */
export class LineTooLong extends Error {
  readonly line: number

  constructor(line: number) {
    super(`line ${line}`)
    this.line = line
  }
}

/** Without its stream, which costs as much as the parsing. Its errors are thrown. */
export class QuickParser {
  readonly #parser: Parser
  readonly #lines: LineLengths

  constructor(options: Options, firstLine: number) {
    this.#parser = new Parser(options)
    this.#lines = new LineLengths(firstLine)
  }

  read(text: string): void {
    this.#lines.see(text)
    this.#run((done) => this.#parser._transform(Buffer.from(text), 'utf8', done))
  }

  end(): void {
    this.#run((done) => this.#parser._flush(done))
  }

  /** It makes an error for every line of another width, an empty one too, and throws it away; its stack is most of the cost. */
  #run(step: (done: TransformCallback) => void): void {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    try {
      step((error) => {
        if (error) throw error
      })
    } finally {
      Error.stackTraceLimit = limit
    }
  }
}

/** csv-parse counts what stands in the cells only: a file of nothing but delimiters would fill the memory. */
class LineLengths {
  #line: number
  #length = 0
  #endedInCr = false

  constructor(firstLine: number) {
    this.#line = firstLine
  }

  see(text: string): void {
    let begin = 0
    for (const { index, 0: lineEnd } of text.matchAll(/\r\n|\n|\r/g)) {
      if (this.#length + index - begin > LIMITS.recordBytes) throw new LineTooLong(this.#line)
      this.#length = 0
      begin = index + lineEnd.length
      if (!(index === 0 && this.#endedInCr && lineEnd === '\n')) this.#line += 1
    }
    this.#endedInCr = text.endsWith('\r')
    this.#length += text.length - begin
    if (this.#length > LIMITS.recordBytes) throw new LineTooLong(this.#line)
  }
}
