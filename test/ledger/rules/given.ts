// Rules as sentences: given a state, when something happens, then this comes of it.

import { expect } from 'vitest'

interface Given<State> {
  when<Result>(act: (state: State) => Result): { then(result: Result): void }
}

export function given<State>(state: State): Given<State> {
  return {
    when: (act) => ({
      // biome-ignore lint/suspicious/noThenProperty: a sentence, which is never awaited
      then: (result) => expect(act(state)).toEqual(result),
    }),
  }
}
