// How large a file, a message and their parts may be. Everything that is read has a limit, so that none can take the machine's memory or an evening.

export const LIMITS = {
  /** Two passes over so much take minutes; more is another tool's output, not a file of instructions. */
  fileBytes: 2 * 1024 ** 3,
  /** Data rows. Every one becomes a row of the ledger and a line of the results. */
  rows: 5_000_000,
  /** Empty lines in a row. A spreadsheet that writes out its whole grid has 1,048,576. */
  emptyLines: 1_100_000,
  /** Lines that repeat the column names. No one pastes so many files together. */
  headersAgain: 1_000,
  /** A record with its quotes and delimiters, and the texts of a row of a workbook. An unclosed quotation mark is found within it. */
  recordBytes: 64 * 1024,
  /** A cell of a spreadsheet holds no more. */
  cellCharacters: 32_767,
  /** All column names together. They must stand in the first bytes that are read for the delimiter. */
  headerCharacters: 16 * 1024,
  columns: 1_000,
  /** Of a workbook: it is held in memory. 100,000 rows of 15 columns take about a fifth of it. */
  workbookBytes: 50 * 1024 ** 2,
  /** Over the sheets and the texts of a workbook, really inflated: some 20 s of reading. */
  inflatedBytes: 1024 ** 3,
  /** Sheets inflate to 10 to 40 times what they take. A file of 1 MiB could inflate to 1 GiB, and is not to take longer than a large one. */
  inflatedTimes: 50,
  inflatedBytesOfAny: 64 * 1024 ** 2,
  /** Tags that are opened in one reading: a cell is two or three of them, and takes some bytes of the file. */
  elementsTimes: 2,
  elementsOfAny: 1_000_000,
  /** The texts of all cells of a workbook as they are carried: one text that is stored once may be named by a million cells. */
  textCharacters: 1024 ** 3,
  textTimes: 32,
  textCharactersOfAny: 4 * 1024 ** 2,
  /** Of one tag in a workbook. The first ones of Excel have some thirty. */
  attributes: 64,
  /** Of the name of a part of a workbook. */
  partNameBytes: 1024,
  /** Of a message: as much as a record of a file. Names and values together. */
  messageCharacters: 64 * 1024,
  /** Of one name or value in a message: every field of an instruction is shorter. What is longer is looked at no further. */
  messageTextCharacters: 512,
  /** Of a batch that comes as one message: names and values together. What is longer is handed in as a file. */
  batchCharacters: 1024 * 1024,
  batchInstructions: 1000,
  /** Nothing in an instruction is nested: it is one level. */
  messageLevels: 32,
  /** Of one object or list in a message. An instruction has some 30. */
  messageMembers: 200,
} as const
