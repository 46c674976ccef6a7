import { describe, expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import { type Way, words } from '../../src/domain/words.ts'
import { commandLine, errorText } from '../../src/present/command-line.ts'

describe('the command line spells', () => {
  test.each<[Way, string]>([
    [{ set: 'decimal', to: ',' }, '--decimal ,'],
    [{ set: 'timezone', to: 'Europe/Berlin' }, '--timezone Europe/Berlin'],
    [{ set: 'map', column: 'Betrag', field: 'amount' }, '--map "Betrag=amount"'],
    [{ set: 'map', column: 'a"; $(rm x)', field: 'ignore' }, `--map 'a"; $(rm x)=ignore'`],
    [{ set: 'map', column: "it's `x`", field: 'ignore' }, "--map 'it'\\''s `x`=ignore'"],
    [{ set: 'not-a-card', to: 'code' }, '--not-a-card "code"'],
    [{ set: 'canary', to: null }, '--canary'],
    [{ act: 'init' }, 'tranche init'],
    [{ act: 'init', beside: true }, 'tranche init --yes'],
    [{ act: 'adopt', as: 'moved' }, 'tranche adopt --moved --reason TEXT'],
    [{ act: 'adopt', as: 'server-is-lost' }, 'tranche adopt --restored --server-is-lost --reason TEXT'],
    [{ act: 'adopt-merchant', merchant: 'shop' }, 'tranche adopt --merchant shop --reason TEXT'],
    [{ act: 'diagnose', look: 'whole' }, 'tranche doctor --whole'],
    [{ act: 'diagnose', look: 'deep' }, 'tranche doctor --deep'],
    [{ act: 'diagnose', look: 'usual' }, 'tranche doctor'],
    [{ act: 'list-doubts', toFile: false }, 'tranche in-doubt list'],
    [{ act: 'list-doubts', toFile: true }, 'tranche in-doubt list --out FILE'],
    [{ act: 'run-file' }, 'tranche run FILE'],
    [{ act: 'use-vault', to: 'create' }, 'tranche vault create FILE'],
    [{ act: 'save-format', name: 'shop' }, 'tranche check FILE … --save-format shop'],
    [{ act: 'show-history', reference: 'R-1' }, 'tranche history R-1'],
    [{ act: 'cancel-batch', batchId: 'B1' }, 'tranche cancel B1 --reason TEXT'],
    [{ act: 'write-results', batchId: 'B1', as: 'any' }, 'tranche results B1 --out FILE'],
    [{ act: 'write-results', batchId: null, as: 'csv' }, 'tranche results BATCH --out NAME.csv'],
  ])('%j as %s', (way, spelled) => expect(commandLine(way)).toBe(spelled))

  test('the ways in a fault, and shows any other error as it is', () => {
    expect(errorText(new Fault('usage', words`Begin with ${{ act: 'init' }}.`))).toBe('Begin with tranche init.')
    expect(errorText(new Error('no'))).toBe('no')
  })
})
