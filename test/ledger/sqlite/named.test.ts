import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { compileNamed, prepareNamed } from '../../../src/ledger/sqlite/named.ts'

function table(): DatabaseSync {
  const db = new DatabaseSync(':memory:')
  db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)')
  return db
}

test('names are bound wherever and however often they stand', () => {
  const db = table()
  const insert = prepareNamed(db, 'INSERT INTO t (b, id, a) VALUES (:b, :id, coalesce(:a, :b))')
  insert({ id: 1, a: null, b: 'x' })
  insert({ id: 2, a: 3, b: 'y' })
  expect(db.prepare('SELECT id, a, b FROM t ORDER BY id').all()).toEqual([
    { id: 1, a: 'x', b: 'x' },
    { id: 2, a: 3, b: 'y' },
  ])
  db.close()
})

test('a name without a value throws, and writes nothing', () => {
  const db = table()
  const insert = prepareNamed(db, 'INSERT INTO t (id, a) VALUES (:id, :a)')
  insert({ id: 1, a: 'first' })
  expect(() => insert({ id: 2 })).toThrow('cannot be bound')
  expect(db.prepare('SELECT count(*) AS n FROM t').get()).toEqual({ n: 1 })
  db.close()
})

test('it answers with what changed', () => {
  const db = table()
  const insert = prepareNamed(db, 'INSERT INTO t (a) VALUES (:a)')
  expect(insert({ a: 1 })).toMatchObject({ changes: 1, lastInsertRowid: 1 })
  db.close()
})

test('how many rows are wanted is no part of the plan: a plan with the number would be made again at each use', () => {
  const db = table()
  const { statement, positions } = compileNamed(db, 'SELECT id FROM t ORDER BY id LIMIT :most')
  db.exec('INSERT INTO t (id) VALUES (1), (2), (3)')
  expect(statement.sourceSQL).toMatch(/LIMIT \+\?1$/)
  expect(statement.all(...positions({ most: 2 }))).toEqual([{ id: 1 }, { id: 2 }])
  db.close()
})
