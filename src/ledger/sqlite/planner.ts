// What SQLite is told of the sizes of tables and indexes. Without it, it takes every account for one of ten rows, and looks through all
// that is recorded of an account to compare it with ten new rows. The figures are those of a large ledger, and are never counted: what
// is good there is no worse in a small one.

/** Index, entries, and how many of them agree in the first column, in the first two, and so on. Of a batch few rows are due. */
const SIZES: readonly (readonly [table: string, index: string, sizes: string])[] = [
  ['instruction', 'sqlite_autoindex_instruction_1', '10000000 10000 1'],
  ['instruction', 'instruction_reference', '10000000 10000000 1'],
  ['instruction', 'instruction_history', '10000000 2'],
  ['instruction', 'instruction_transaction', '10000000 10000000 1'],
  ['instruction', 'instruction_plain_transaction', '10000000 10000000 1'],
  ['instruction', 'instruction_xtl', '10000000 10000000 1'],
  ['instruction', 'instruction_lookalike', '10000000 10000000 3'],
  ['instruction', 'instruction_order', '10000000 10000000 2'],
  ['instruction', 'instruction_sale', '10000000 10000000 2'],
  ['instruction', 'instruction_target', '10000000 10000000 12'],
  ['instruction', 'instruction_duplicate', '10000000 10000'],
  ['instruction', 'instruction_duplicate_of', '10000000 30'],
  ['instruction', 'instruction_given', '10000000 10000000 1'],
  ['instruction', 'instruction_reattempt', '10000000 10000000 1'],
  ['instruction', 'instruction_declined', '1000000 1000000 1'],
  ['instruction', 'instruction_stored', '10000000 10000000 1'],
  ['instruction', 'instruction_stored_card', '10000000 10000000 2'],
  ['instruction', 'instruction_card_event', '10000000 10000000 5'],
  ['instruction', 'instruction_due', '100000 100 50 1 1'],
  ['instruction', 'instruction_open_order', '100000 100000 2 1 1'],
  ['instruction', 'instruction_submitted_again', '10000 100'],
  ['instruction', 'instruction_sending', '100 1'],
  ['instruction', 'instruction_doubt', '100 1'],
  ['instruction', 'instruction_money_warning', '1000000 100'],
  ['move', 'move_row', '20000000 2'],
  ['move', 'move_resolved', '1000 1'],
  ['batch', 'sqlite_autoindex_batch_1', '1000 1'],
  ['batch', 'batch_file', '1000 1 1'],
  ['batch', 'batch_queue_day', '100 100 1'],
  ['batch', 'batch_created', '1000 1'],
  ['act', 'act_at', '10000 1'],
]

const VALUES = SIZES.map(([table, index, sizes]) => `('${table}', '${index}', '${sizes}')`).join(',\n    ')

/** The first statement makes the table of the figures, the last has them read. */
export const PLANNER = `
  ANALYZE sqlite_schema;
  INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ${VALUES};
  ANALYZE sqlite_schema;
`
