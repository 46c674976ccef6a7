import { expect, test } from 'vitest'
import { isMonthOver, isPeriodFar, isSameMonth, runKeyForm } from '../../src/domain/run-key.ts'

const NOW = Date.UTC(2026, 11, 22)
const form = (key: string) => runKeyForm(key, NOW)

test.each([
  ...['2026-012', '12-2026', '012.2026', '202612', '122026', '2026_12', ' 2026/12', '2026M12', '2026-m12'],
  ...['december-2026', 'Dec-26', 'DEZ 2026', '2026-décembre', 'dec2026', '2026dezember', 'december'],
])('%s is 2026-12', (key) => {
  expect(form(key)).toBe(form('2026-12'))
})

test.each([
  ['2027-1', '2027-01'],
  ['subs-2026-012', 'subs 12.2026'],
  ['subs-2026-12', 'SUBS-2026-12'],
  ['2026-W09', '2026-w9'],
  ['2026W01', '2026-W01'],
  ['20261201', '2026-12-01'],
  ['2026-12-1', '2026.12.01'],
  ['dec-2026-subs', '2026-12 subs'],
  ['run_A', ' RUN_a '],
  ['\u304b\u3099', '\u304c'], // one letter, composed and not
  ['mai', 'may 2027'],
])('%s is %s', (one, other) => {
  expect(form(one)).toBe(form(other))
})

test.each([
  ['2026-12', '2026-11'],
  ['2026-12', '2027-12'],
  ['2026-12-a', '2026-12-b'],
  ['2026-12', '2026-12-01'],
  ['2026-12-01', '2026-01-12'],
  ['2026-W12', '2026-12'],
  ['q4-2026', '2026-4'],
  ['january', 'june'],
  ['jui-2026', 'jul-2026'],
  ['december', '2025-12'],
  ['run-12', 'run-112'],
  ['a', 'b'],
  ['A+', 'A-'],
  ['A+2026-12', 'A-2026-12'],
  ['+', '!'],
  ['が', 'か'],
  ['1.05', '1.5'],
  ['run-007', 'run-7'],
  ['marco', 'mars'],
  ['2026-12-01', '2026-12-02'],
  ['2026-12-99', '2026-12'],
  ['1-12-2026', '2026-12'],
  ['2026-W1', '2026-01'],
  ['2026-W1', '2026-W11'],
  ['20261201', '202612'],
])('%s is not %s', (one, other) => {
  expect(form(one)).not.toBe(form(other))
})

test('the name of a month alone is the nearest one', () => {
  expect(runKeyForm('december', Date.UTC(2027, 0, 5))).toBe(form('2026-12'))
  expect(runKeyForm('january', NOW)).toBe(form('2027-01'))
})

test.each([
  ['2026-12', '2027-01-05', false],
  ['2026-12', '2027-01-07', true],
  ['subs 12.2026', '2027-01-07', true],
  ['2026-12-01', '2027-01-07', false],
  ['week-2026', '2027-01-07', false],
])('%s on %s is of a month that is over: %s', (key, day, isOver) => {
  expect(isMonthOver(key, Date.parse(day))).toBe(isOver)
})

test.each([
  ['2026-12', '2027-01-05', false],
  ['2026-12', '2027-02-09', false],
  ['2026-12', '2027-02-11', true],
  ['2026-01', '2027-01-05', true],
  ['2028-01', '2027-01-05', true],
  ['members-2027-02', '2027-01-05', false],
  ['2026', '2028-01-05', false],
  ['batch-7', '2028-01-05', false],
  ['dec', '2026-05-04', false],
  ['2026-W53', '2027-01-23', false],
  ['2026-W53', '2027-01-25', true],
  ['2027-W05', '2027-01-11', true],
  ['2026-W52', '2027-12-28', true],
  ['2027-W53', '2028-01-03', true],
  ['subs-2027-W01', '2027-01-03', false],
])('the month or week of the key %s is, on %s, far, or does not exist: %s', (key, day, isFar) => {
  expect(isPeriodFar(key, Date.parse(day))).toBe(isFar)
})

test.each([
  ['2026-12', '2026-12-final', true],
  ['Dec 2026 rerun', '2026-12', true],
  ['2026-12', 'subs-2026-12', true],
  ['r2026-12', 'Dec 2026', true],
  ['2026-12', '12026-12', false],
  ['2026-12', 'r2026-121', false],
  ['2026-12', 'subs-2026-11', false],
  ['gym-2026-12', 'subs-2026-12', false],
  ['2026-W12', 'r2026-W12', false],
  ['2026-1', '2026-12', false],
  ['2026', '2026-12', false],
  ['2026-11', '2026-12-final', false],
  ['batch', 'batch-final', false],
])('the keys %s and %s are of one month: %s', (one, other, isSame) => {
  expect(isSameMonth(one, other, Date.UTC(2026, 11, 5))).toBe(isSame)
})
