// How large a file, a message and their parts may be. Everything that is read has a limit, so that none can take the machine's memory or an evening.

export const LIMITS = {
  /** Two passes over so much take minutes; more is another tool's output, not a file of instructions. */
  fileBytes: 2 * 1024 ** 3,
  /** Data rows. Every one becomes a row of the ledger and a line of the results. */
  rows: 5_000_000,
  /** Empty lines in a row. A spreadsheet that writes out its whole grid has 1,048,576. */
  emptyLines: 1_100_000,
  /** Lines that repeat the column names. Nobody pastes so many files together. */
  headersAgain: 1_000,
  /** A record with its quotes and delimiters. An unclosed quotation mark is found within it. */
  recordBytes: 64 * 1024,
  /** A cell of a spreadsheet holds no more. */
  cellCharacters: 32_767,
  /** All column names together. They must stand in the first bytes that are read for the delimiter. */
  headerCharacters: 16 * 1024,
  columns: 1_000,
  /** Of a message: as much as a record of a file. Names and values together. */
  messageCharacters: 64 * 1024,
  /** Nothing in an instruction is nested: it is one level. */
  messageLevels: 32,
} as const
