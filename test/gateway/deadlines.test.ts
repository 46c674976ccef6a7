import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { Deadlines, Timed } from '../../src/gateway/deadlines.ts'

class Named extends Timed {
  readonly name: string

  constructor(name: string) {
    super()
    this.name = name
  }
}

let over: string[] = []
/** What waits until the sockets have been read. */
let reading: (() => void)[] = []
let deadlines: Deadlines<Named>

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  over = []
  reading = []
  deadlines = new Deadlines<Named>(
    100,
    (then) => reading.push(then),
    ({ name }) => over.push(name),
  )
})

function begin(name: string): Named {
  const one = new Named(name)
  deadlines.begin(one)
  return one
}

/** Time passes, and what comes is read at once. */
function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed++) {
    vi.advanceTimersByTime(1)
    read()
  }
}

function read(): void {
  for (const then of reading.splice(0)) then()
}

test('one timer serves all, and each has its whole time', () => {
  begin('a')
  pass(40)
  begin('b')
  expect(vi.getTimerCount()).toBe(1)
  pass(59)
  expect(over).toEqual([])
  pass(1)
  expect(over).toEqual(['a'])
  pass(39)
  expect(over).toEqual(['a'])
  pass(1)
  expect(over).toEqual(['a', 'b'])
  expect(vi.getTimerCount()).toBe(0)
})

test('one that begins again counts from there, behind those that began before', () => {
  const a = begin('a')
  pass(40)
  begin('b')
  pass(40)
  deadlines.begin(a)
  expect(deadlines.all().map(({ name }) => name)).toEqual(['b', 'a'])
  pass(60)
  expect(over).toEqual(['b'])
  pass(40)
  expect(over).toEqual(['b', 'a'])
})

test('one that has left is not over, and leaves its neighbours as they are', () => {
  begin('a')
  const b = begin('b')
  begin('c')
  b.leave()
  pass(100)
  expect(over).toEqual(['a', 'c'])
})

test('what left or began again while the sockets were read is not over', () => {
  const [a, b] = [begin('a'), begin('b')]
  begin('c')
  vi.advanceTimersByTime(100)
  a.leave()
  deadlines.begin(b)
  read()
  expect(over).toEqual(['c'])
})

test('what gets over while the sockets are read waits until they have been read once more', () => {
  begin('a')
  pass(40)
  begin('b')
  vi.advanceTimersByTime(60)
  vi.advanceTimersByTime(40)
  read()
  expect(over).toEqual(['a'])
  pass(1)
  expect(over).toEqual(['a', 'b'])
})
