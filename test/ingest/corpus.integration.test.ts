// Small files as people make them, byte for byte on disk in corpus/, and what becomes of each.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Outcome, outcomeOf, type Said } from './outcome.ts'

interface Case extends Outcome {
  readonly file: string
  /** What the file shows. */
  readonly fact: string
  readonly options?: Said
}

const CORPUS = join(import.meta.dirname, 'corpus')

const CASES: readonly Case[] = [
  {
    file: 'utf-8',
    fact: 'UTF-8 without a mark is read',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'utf-8-bom',
    fact: 'UTF-8 with a byte order mark is read, and the mark is no part of the first column',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'utf-16le-bom',
    fact: 'UTF-16 little endian, as "Unicode text" of a spreadsheet, is read',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'utf-16be-bom',
    fact: 'UTF-16 big endian is read',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'utf-16le-no-mark',
    fact: 'UTF-16 without a mark is known by the zeros between its letters',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'utf-16be-no-mark',
    fact: 'UTF-16 big endian without a mark is known by them too',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'windows-1252',
    fact: 'Windows-1252 is read with a warning that names the line to look at',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
    warnings: [
      'The file is not UTF-8 and was read as Windows-1252: look at the letters with accents in line 2 before you go on.',
    ],
  },
  {
    file: 'utf-8-cut',
    fact: 'UTF-8 cut off in the middle of its last character is not taken for Windows-1252',
    refused:
      'line 4: the file is UTF-8 except for some bytes, the first of them in line 4. it may be damaged, or joined from files of two encodings: export it again as "CSV UTF-8"',
  },
  {
    file: 'windows-1252-accent-last',
    fact: 'a lone accent as the last byte could be a character cut through, and is refused',
    refused:
      'line 3: the last character of the file is cut through, or the file is not UTF-8. the file may be incomplete: export it again as "CSV UTF-8"',
  },
  {
    file: 'two-encodings',
    fact: 'UTF-8 and Windows-1252 pasted together are refused with the line where it changes',
    refused:
      'line 4: the file is UTF-8 except for some bytes, the first of them in line 4. it may be damaged, or joined from files of two encodings: export it again as "CSV UTF-8"',
  },
  {
    file: 'utf-8-mark-latin-body',
    fact: 'a UTF-8 mark before Windows-1252 text is refused',
    refused:
      'the file begins as UTF-8 but has bytes that are not. the file may be damaged or joined from two: export it again as "CSV UTF-8"',
  },
  {
    file: 'nul',
    fact: 'a zero byte is no text',
    refused: 'the file is neither UTF-8 nor Windows-1252 text. save it as "CSV UTF-8" and use that file',
  },
  {
    file: 'workbook',
    fact: 'the beginning of an Excel workbook under the name of a CSV is told for what it is',
    refused:
      'the file begins as an Excel workbook (a zip archive) and is damaged or cut off. fetch or save it again; if it opens in a spreadsheet program, save it there again as .xlsx',
  },
  {
    file: 'html',
    fact: 'a page with a table in it is refused as one',
    refused:
      'the file is an HTML or XML page, neither CSV nor .xlsx. save the sheet as .xlsx without a password, or as "CSV UTF-8", and use that file',
  },
  {
    file: 'card-number-as-title',
    fact: 'a card number above the column names is told before the title is',
    refused:
      'line 1: the first line holds a card number where the column names should be. put the column names first; for stored cards use customer_vault_id',
  },
  {
    file: 'empty',
    fact: 'an empty file is refused',
    refused: 'the file is empty. check the export; the first line must name the columns',
  },
  {
    file: 'only-header',
    fact: 'column names without rows are refused',
    refused: 'the file has column names but no rows. check the export',
  },
  {
    file: 'comma',
    fact: 'a comma parts the cells',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 7.50 EUR, order 1002'],
  },
  {
    file: 'tab',
    fact: 'a tab parts the cells',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'pipe',
    fact: 'a | parts the cells',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'sep-line',
    fact: 'a sep= line says what parts the cells and counts as a line',
    rows: ['line 3, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 4, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'sep-line-wrong',
    fact: 'a sep= line with a character that parts no cells is refused',
    refused: 'line 1: the sep= line names a character that cannot separate cells. use a comma, a semicolon, a tab or |',
  },
  {
    file: 'delimiter-in-quoted-header',
    fact: 'commas inside a quoted column name part nothing',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'delimiter-tie',
    fact: 'a first line that two delimiters part alike is refused',
    refused:
      'line 1: the first line could be separated by a semicolon or by |. write sep= and the delimiter in a line of its own above it, for example sep=;',
  },
  {
    file: 'more-commas-than-semicolons',
    fact: 'the delimiter under which columns are known wins over the one that is there more often',
    columns: ['order_id=request_ref_po_id'],
    rows: ['line 2, row 1: b112776eab666b36-1, REFUND, 1.50 EUR, order 1'],
  },
  {
    file: 'another-delimiter-below',
    fact: 'rows parted by another character than the header are refused',
    refused:
      'line 2: the row has 1 cell and the header 6. the row seems to use another delimiter than the header: use one for the whole file',
  },
  {
    file: 'crlf',
    fact: 'CRLF ends lines',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'cr',
    fact: 'CR ends lines',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'mixed-line-ends',
    fact: 'line ends may be mixed, and lines are counted rightly',
    rows: [
      'line 2, row 1: R1, REFUND, 12.30 EUR, order 1001',
      'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002',
      'line 4, row 3: amount "x" has letters or a currency symbol in it; write the number only, and the currency in its own column',
    ],
  },
  {
    file: 'no-last-line-end',
    fact: 'the last row needs no line end',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1234.50 EUR, order 1002'],
  },
  {
    file: 'quoted-newlines',
    fact: 'line breaks inside quotation marks are part of the cell and are counted',
    rows: [
      'line 2, row 1: R1, REFUND, 12.30 EUR, order 1001',
      'line 5, row 2: amount "x" has letters or a currency symbol in it; write the number only, and the currency in its own column',
    ],
  },
  {
    file: 'empty-rows',
    fact: 'blank and all-empty rows are left out and counted as lines',
    rows: [
      'line 4, row 1: R1, REFUND, 12.30 EUR, order 1001',
      'line 9, row 2: amount "x" has letters or a currency symbol in it; write the number only, and the currency in its own column',
    ],
  },
  {
    file: 'all-quoted',
    fact: 'every cell may be in quotation marks',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'hidden-quotes',
    fact: 'quotation marks that are part of the cells are no part of their values',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'hidden-quotes-in-header',
    fact: 'nor of the column names',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'lines-in-quotes',
    fact: 'whole lines in quotation marks are read without them, with a warning',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1.00 EUR, order 1002'],
    warnings: ['Whole lines are in quotation marks (3, the first is line 1); they were read without them.'],
  },
  {
    file: 'rows-in-quotes',
    fact: 'so are those below a header that has none',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1.00 EUR, order 1002'],
    warnings: ['Whole lines are in quotation marks (1, the first is line 2); they were read without them.'],
  },
  {
    file: 'line-in-quotes-too-short',
    fact: 'a line in quotation marks with too few cells inside is refused',
    refused:
      'line 2: the row has 5 cells and the header 6. look for a delimiter inside a cell that is not in quotation marks, a cell that is missing, or a missing line end',
  },
  {
    file: 'inches',
    fact: 'a quotation mark in the middle of a cell is part of it',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1.00 EUR, order 1002'],
  },
  {
    file: 'text-behind-quotes',
    fact: 'a cell that begins with a quoted word is read as it stands',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'quotes-around-delimiter-and-text',
    fact: 'quotation marks around a delimiter with text behind them are refused: the cell could end in either place',
    refused:
      'line 2: the quotation marks in the row that begins in line 2 leave open where a cell ends. put the whole cell in quotation marks, nothing before or behind them, and write those inside it twice ("")',
  },
  {
    file: 'blank-before-quotes',
    fact: 'a blank before quotation marks around a delimiter is refused: the cells would be shifted',
    refused:
      'line 2: the quotation marks in the row that begins in line 2 leave open where a cell ends. put the whole cell in quotation marks, nothing before or behind them, and write those inside it twice ("")',
  },
  {
    file: 'blank-behind-quotes',
    fact: 'a blank behind quotation marks is no part of the value',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'quote-not-closed',
    fact: 'a quotation mark that is never closed is refused with the line where its row begins',
    refused:
      'line 3: a quotation mark is opened in the row that begins in line 3 and never closed. close it, or write a quotation mark that belongs to the text twice ("") inside a quoted cell',
  },
  {
    file: 'blanks-everywhere',
    fact: 'blanks, no-break ones too, around names and values are no part of them',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'zero-width-in-header',
    fact: 'characters in column names that nobody sees are passed over',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'title-lines',
    fact: 'title lines above the column names are refused, and the line of the names is named',
    refused:
      'line 1: the file begins with "Export of 21.11.2026" where the column names should be; line 3 looks like the column names. take out lines 1 to 2, so that the column names come first, or leave them in and say --header-row 3',
  },
  {
    file: 'title-line-undelimited',
    fact: 'so is a title that has no delimiter in it',
    refused:
      'line 1: the file begins with "Refunds November" where the column names should be; line 3 looks like the column names. take out lines 1 to 2, so that the column names come first, or leave them in and say --header-row 3',
  },
  {
    file: 'header-twice',
    fact: 'the column names again in the middle are left out with a warning, and rows keep their numbers',
    rows: [
      'line 2, row 1: R1, REFUND, 12.30 EUR, order 1001',
      'line 4, row 2: amount "x" has letters or a currency symbol in it; write the number only, and the currency in its own column',
    ],
    warnings: ['Line 3 repeats the column names: two files seem to be pasted together; it was left out.'],
  },
  {
    file: 'header-in-another-order',
    fact: 'column names again in another order refuse the file',
    refused:
      'line 3: the row names columns again, and not as the first line does: two different files seem to be pasted together. run them as two files, each with its own column names in the first line',
  },
  {
    file: 'header-of-another-file',
    fact: 'column names again of another set refuse the file',
    refused:
      'line 3: the row names columns again, and not as the first line does: two different files seem to be pasted together. run them as two files, each with its own column names in the first line',
  },
  {
    file: 'pasted-without-line-end',
    fact: 'a file pasted behind a last line without a line end is refused',
    refused:
      'line 2: the row has 11 cells and the header 6. look for a delimiter inside a cell that is not in quotation marks, a cell that is missing, or a missing line end',
  },
  {
    file: 'totals-line',
    fact: 'a totals line is a bad row that is told to be one',
    rows: [
      'line 2, row 1: R1, REFUND, 12.30 EUR, order 1001',
      'line 3, row 2: reference "Total" the row looks like a line of totals, not like an instruction; take the line out of the file; if it is an instruction, fill in its empty cells and call it otherwise',
    ],
  },
  {
    file: 'totals-line-german',
    fact: 'in other languages too, wherever the word stands',
    rows: [
      'line 2, row 1: R1, REFUND, 12.30 EUR, order 1001',
      'line 3, row 2: note "Summe:" the row looks like a line of totals, not like an instruction; take the line out of the file; if it is an instruction, fill in its empty cells and call it otherwise',
    ],
  },
  {
    file: 'cell-missing',
    fact: 'a row without its last cell, which no money goes by, is read with a note',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1.00 EUR, order 1002'],
    warnings: ['Line 3 has cells too few or empty cells too many at the end: missing ones are read as empty.'],
  },
  {
    file: 'decimal-comma-as-delimiter',
    fact: 'an amount whose decimal comma parts the row is refused',
    refused:
      'line 2: the row has 7 cells and the header 6. look for a delimiter inside a cell that is not in quotation marks, a cell that is missing, or a missing line end',
  },
  {
    file: 'column-twice',
    fact: 'two columns of one name are refused',
    refused: 'line 1: the columns "amount" and "Amount" have the same name. remove or rename one of them',
  },
  {
    file: 'field-twice',
    fact: 'two columns that mean one field are refused, with the way to leave one out',
    refused:
      'line 1: the columns "amount" and "Betrag" both mean amount. remove or rename one of them, or leave one out of the reading: --map "Betrag=ignore"',
  },
  {
    file: 'field-twice-ignored',
    fact: 'leaving one out makes it readable',
    options: { map: ['Betrag='] },
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'column-missing',
    fact: 'a missing column is named, with the one that may be meant',
    options: { operation: 'REFUND' },
    refused:
      'line 1: the file has no column amount; its first line has "reference", "transaction_type", "ammount", "request_currency", "request_ref_po_id", "note". is "ammount" meant? Name it amount, or add --map "ammount=amount". In this file there are columns with amounts: "ammount"',
  },
  {
    file: 'shop-order-number',
    fact: 'an order number is not taken for the gateway’s order id',
    options: { operation: 'REFUND' },
    refused:
      'line 1: the file has no column request_ref_po_id; its first line has "reference", "transaction_type", "amount", "request_currency", "Order number", "note". add the column request_ref_po_id, the gateway\'s id of the earlier transaction (an order number of the shop is something else), or map the column that holds it: --map "COLUMN=request_ref_po_id"',
  },
  {
    file: 'mapped-order-number',
    fact: 'unless a person says so',
    options: { map: ['bestellnummer=request_ref_po_id'] },
    columns: ['Bestellnummer=request_ref_po_id'],
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'mapped-missing-column',
    fact: 'a mapped column that the file has not refuses it',
    options: { map: ['Betrga=amount'] },
    refused:
      'line 1: the file has no column "Betrga", which --map or the saved format names; its first line has "reference", "transaction_type", "amount", "request_currency", "request_ref_po_id", "note". write the name as the file has it',
  },
  {
    file: 'mapped-against-own-name',
    fact: 'a mapped column and the gateway’s own name for one field refuse the file',
    options: { map: ['note=amount'] },
    refused:
      'line 1: the columns "amount" and "note" both mean amount. remove or rename one of them, or leave one out of the reading: --map "amount=ignore"',
  },
  {
    file: 'mapped-over-synonym',
    fact: 'a mapped column wins over a synonym, which is then carried through',
    options: { map: ['Betrag=amount'] },
    columns: ['type=transaction_type', 'Betrag=amount', 'currency=request_currency', 'order_id=request_ref_po_id'],
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'german',
    fact: 'German names and words are understood',
    columns: [
      'Referenz=reference',
      'Vorgang=transaction_type',
      'Betrag=amount',
      'Währung=request_currency',
      'Order-ID=request_ref_po_id',
      'Vorname=cust_fname',
      'Straße=bill_addr',
      'PLZ=bill_addr_zip',
    ],
    rows: ['line 2, row 1: R1, REFUND, 1234.50 EUR, order 1001', 'line 3, row 2: R2, CANCEL, no amount, order 1002'],
  },
  {
    file: 'german-without-accents',
    fact: 'and without their accents',
    columns: [
      'Referenz=reference',
      'Transaktionsart=transaction_type',
      'Betrag=amount',
      'Wahrung=request_currency',
      'order_id=request_ref_po_id',
    ],
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 12.30 EUR, order 1002'],
  },
  {
    file: 'french',
    fact: 'French names and words are understood',
    columns: [
      'Référence=reference',
      "Type d'opération=transaction_type",
      'Montant=amount',
      'Devise=request_currency',
      'order_id=request_ref_po_id',
    ],
    rows: ['line 2, row 1: R1, REFUND, 1234.50 EUR, order 1001', 'line 3, row 2: R2, CANCEL, no amount, order 1002'],
  },
  {
    file: 'spanish',
    fact: 'Spanish names and words are understood',
    columns: [
      'Referencia=reference',
      'Tipo de operación=transaction_type',
      'Importe=amount',
      'Moneda=request_currency',
      'order_id=request_ref_po_id',
      'Correo electrónico=cust_email',
    ],
    rows: ['line 2, row 1: R1, REFUND, 1234.50 EUR, order 1001', 'line 3, row 2: R2, CANCEL, no amount, order 1002'],
  },
  {
    file: 'italian',
    fact: 'Italian names and words are understood',
    columns: [
      'Riferimento=reference',
      'Tipo operazione=transaction_type',
      'Importo=amount',
      'Valuta=request_currency',
      'order_id=request_ref_po_id',
    ],
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, CANCEL, no amount, order 1002'],
  },
  {
    file: 'word-for-taking-money',
    fact: 'a word that does not tell a sale from a capture is not understood',
    columns: [
      'Referenz=reference',
      'Vorgang=transaction_type',
      'Betrag=amount',
      'Währung=request_currency',
      'Vault-ID=customer_vault_id',
    ],
    rows: [
      'line 2, row 1: Vorgang "Verkauf" is not an operation; write CAPTURE for a sale, CAUTH to capture an authorization, AUTH, REFUND or CANCEL',
      'line 3, row 2: Vorgang "Capture" is not an operation; write CAPTURE for a sale, CAUTH to capture an authorization, AUTH, REFUND or CANCEL',
    ],
  },
  {
    file: 'decimal-comma',
    fact: 'a comma is the decimal sign where one amount shows it',
    rows: [
      'line 2, row 1: R1, REFUND, 12.30 EUR, order 1001',
      'line 3, row 2: R2, REFUND, 1234.00 EUR, order 1002',
      'line 4, row 3: R3, REFUND, 7.00 EUR, order 1003',
    ],
    warnings: [
      '"1.234" in line 3 is read as 1234, because line 2 shows that the decimal sign is a comma. If that is wrong, add --decimal.',
    ],
  },
  {
    file: 'decimal-open',
    fact: '1.234 alone could be either and is an error of its row',
    rows: [
      'line 2, row 1: amount "1.234" could be a whole number with a thousands separator, or a number with three decimals; choose the decimal sign of this file with --decimal . or --decimal ,',
      'line 3, row 2: R2, REFUND, 7.00 EUR, order 1002',
    ],
  },
  {
    file: 'decimal-declared',
    fact: 'saying the sign settles it',
    options: { decimal: ',' },
    rows: ['line 2, row 1: R1, REFUND, 1234.00 EUR, order 1001'],
  },
  {
    file: 'decimal-both',
    fact: 'two decimal signs in one file are refused with both lines',
    refused:
      'line 3: line 3 writes decimals with a point and line 2 with a comma. write all amounts of the file in one way, or choose the decimal sign with --decimal . or --decimal ,',
  },
  {
    file: 'thousands',
    fact: 'thousands may be parted by the other sign, an apostrophe or a blank',
    rows: [
      'line 2, row 1: R1, REFUND, 1234.50 EUR, order 1',
      'line 3, row 2: R2, REFUND, 1234.50 EUR, order 2',
      'line 4, row 3: R3, REFUND, 1234567.89 EUR, order 3',
      'line 5, row 4: R4, REFUND, 1234.50 EUR, order 4',
    ],
  },
  {
    file: 'thousands-wrong',
    fact: 'thousands that are not parted by threes are errors',
    rows: [
      'line 2, row 1: amount "1,23,456.00" is not an amount; write it as digits and decimals only, for example 1234.56',
      'line 3, row 2: amount "12,34.50" is not an amount; write it as digits and decimals only, for example 1234.56',
      'line 4, row 3: amount "1\'234,567.00" is not an amount; write it as digits and decimals only, for example 1234.56',
      'line 5, row 4: amount "1234,567.00" is not an amount; write it as digits and decimals only, for example 1234.56',
    ],
  },
  {
    file: 'decimals-of-the-currency',
    fact: 'more decimals than the currency has are errors, not rounded',
    rows: [
      'line 2, row 1: amount "5.00" JPY has no decimals and this amount has more; if 5 JPY is meant, write it without the zeros: decimals are not cut',
      'line 3, row 2: amount "5.001" EUR has 2 decimals and this amount has more; check the currency and the amount; the decimals are not cut or rounded',
      'line 4, row 3: R3, REFUND, 5.001 KWD, order 3',
      'line 5, row 4: R4, REFUND, 5 JPY, order 4',
    ],
  },
  {
    file: 'signs-and-symbols',
    fact: 'signs, symbols, letters and rounded numbers are no amounts',
    rows: [
      'line 2, row 1: amount "+5.00" has a sign; write it without one: the operation says which way the money goes',
      'line 3, row 2: amount "+ 5.00" has a sign; write it without one: the operation says which way the money goes',
      'line 4, row 3: amount "€ 5.00" has letters or a currency symbol in it; write the number only, and the currency in its own column',
      'line 5, row 4: amount "5.00 EUR" has letters or a currency symbol in it; write the number only, and the currency in its own column',
      'line 6, row 5: amount "1.2E+3" is in scientific notation; format the column as a number with decimals and export the file again',
      'line 7, row 6: amount "12.3O" has a letter in the place of a digit; if 12.30 is meant, write it in digits',
      'line 8, row 7: amount "0.00" is zero; leave the row out, or write the amount',
      'line 9, row 8: amount "1<U+200B>2.00" contains an invisible character (U+200B); type it again',
      'line 10, row 9: amount "１２.00" is not an amount with "." as the decimal sign; write it as digits and decimals only, for example 1234.56',
      'line 11, row 10: amount ".50" is not an amount with "." as the decimal sign; write it as digits and decimals only, for example 1234.56',
      'line 12, row 11: amount "=5" is not an amount with "." as the decimal sign; write it as digits and decimals only, for example 1234.56',
    ],
  },
  {
    file: 'damaged-ids',
    fact: 'ids that a spreadsheet damaged are errors that say how to mend them',
    rows: [
      'line 2, row 1: request_ref_po_id "1.23457E+12" was turned into a rounded number by a spreadsheet; format the column as Text in the spreadsheet, fill it again from the source, and export the file again',
      'line 3, row 2: request_ref_po_id "1,23E+12" was turned into a rounded number by a spreadsheet; format the column as Text in the spreadsheet, fill it again from the source, and export the file again',
      'line 4, row 3: request_ref_po_id "123.0" was turned into a decimal number by a spreadsheet; format the column as Text in the spreadsheet, fill it again from the source, and export the file again',
      'line 5, row 4: request_ref_po_id "1234567890123450000" has only zeros after its 15th digit, as when a spreadsheet cut it off; format the column as Text in the spreadsheet, fill it again from the source, and export the file again',
      'line 6, row 5: request_ref_po_id "\'00123" begins with an apostrophe, a spreadsheet\'s mark for text that was typed as a character; take the apostrophe away and format the column as Text instead',
      'line 7, row 6: request_ref_po_id "=123" begins with a character that a spreadsheet takes for a formula, or with a control character; write it without that character',
      'line 8, row 7: request_ref_po_id "1.234.567" has thousands separators, as when a spreadsheet took it for an amount; format the column as Text in the spreadsheet, fill it again from the source, and export the file again',
    ],
  },
  {
    file: 'odd-ids',
    fact: 'ids with other digits, hidden characters or the letter O are errors',
    rows: [
      'line 2, row 1: request_ref_po_id "１２３" has digits that are not 0 to 9; type the id again with plain digits',
      'line 3, row 2: request_ref_po_id "12<U+200B>3" contains an invisible character (U+200B); type it again',
      'line 4, row 3: request_ref_po_id "12<U+00AD>3" contains an invisible character (U+00AD); type it again',
      'line 5, row 4: request_ref_po_id "12 3" contains an invisible character (U+00A0); type it again',
      'line 6, row 5: request_ref_po_id "1O3" has the letter O where a zero seems to be meant; use the id exactly as the gateway gave it',
      'line 7, row 6: request_ref_po_id "12 3" is not digits only; use the id exactly as the gateway gave it',
      'line 8, row 7: request_ref_po_id "abc" is not digits only; use the id exactly as the gateway gave it',
      'line 9, row 8: request_ref_po_id "000" is zero, which is no id; use the id exactly as the gateway gave it',
    ],
  },
  {
    file: 'leading-zeros',
    fact: 'leading zeros of ids are kept',
    rows: ['line 2, row 1: R1, REFUND, 1.50 EUR, order 00123'],
  },
  {
    file: 'damaged-references',
    fact: 'references that a spreadsheet damaged or would run are errors',
    rows: [
      'line 2, row 1: reference "1.23457E+12" was turned into a rounded number by a spreadsheet; format the column as Text in the spreadsheet, fill it again from the source, and export the file again',
      'line 3, row 2: reference "=1+1" begins with a character that a spreadsheet takes for a formula, or with a control character; write it without that character',
      'line 4, row 3: reference "\'00123" begins with an apostrophe, a spreadsheet\'s mark for text that was typed as a character; take the apostrophe away and format the column as Text instead',
      'line 5, row 4: reference "R<U+200B>4" contains an invisible character (U+200B); type it again',
    ],
  },
  {
    file: 'card-number',
    fact: 'a card number anywhere refuses the file and is not shown',
    refused:
      'line 2, note: holds a card number. remove it from the file, and from wherever the file came from; use customer_vault_id for stored cards; if the column holds ids or other numbers that only look like card numbers, add --not-a-card "note"',
  },
  {
    file: 'card-column',
    fact: 'a filled column for card data refuses the file, in any language',
    refused:
      'line 2, Kartennummer: holds card data, which is not taken here. use customer_vault_id (a stored card) or request_ref_po_id (an order), and leave card columns empty or masked; sales and authorizations with card details are sent by tranche run FILE; cards are stored by tranche vault create FILE',
  },
  {
    file: 'moments',
    fact: 'moments have an offset, or are errors',
    columns: ['type=transaction_type', 'currency=request_currency', 'vault_id=customer_vault_id'],
    rows: [
      'line 2, row 1: R1, CAPTURE, 1.50 EUR, vault 7, at 2026-12-01T08:00:00.000Z',
      'line 3, row 2: execute_at "2026-12-01T09:00" has no UTC offset, so it would mean another moment on another machine; add Z or the offset, for example 2026-12-01T09:00:00+01:00, or say where it is meant, for example --timezone Europe/Berlin',
      'line 4, row 3: execute_at "2026-12-01" is a day without a time; write it as ISO 8601 with an offset, for example 2026-12-01T09:00:00+01:00',
      'line 5, row 4: execute_at "21.11.2026" is ambiguous: its day and month cannot be told apart; write it as ISO 8601 with an offset, for example 2026-12-01T09:00:00+01:00',
      'line 6, row 5: execute_at "11/21/2026 09:00" is ambiguous: its day and month cannot be told apart; write it as ISO 8601 with an offset, for example 2026-12-01T09:00:00+01:00',
      'line 7, row 6: execute_at "46347.375" is a spreadsheet\'s own number for a day; format the column as Text and write it as ISO 8601 with an offset, for example 2026-12-01T09:00:00+01:00',
      'line 8, row 7: execute_at "2026-02-30T09:00Z" is not in the calendar; check day, time and offset',
    ],
  },
  {
    file: 'moments-in-a-zone',
    fact: 'in a declared zone an offset is not needed; a time that is skipped or comes twice is an error',
    options: { timeZone: 'Europe/Berlin' },
    columns: ['type=transaction_type', 'currency=request_currency', 'vault_id=customer_vault_id'],
    rows: [
      'line 2, row 1: R1, CAPTURE, 1.50 EUR, vault 7, at 2026-12-01T08:00:00.000Z',
      'line 3, row 2: R2, CAPTURE, 1.50 EUR, vault 7, at 2026-07-01T07:00:30.000Z',
      'line 4, row 3: R3, CAPTURE, 1.50 EUR, vault 7, at 2026-12-01T09:00:00.000Z',
      'line 5, row 4: execute_at "2026-03-29T02:30" does not exist in Europe/Berlin: the clocks go forward over it; write a time that exists, or add the offset that is meant, for example 2026-03-29T02:30:00+01:00',
      'line 6, row 5: execute_at "2026-10-25T02:30" comes twice in Europe/Berlin: the clocks go back over it; add the offset that is meant: 2026-10-25T02:30:00+02:00 is the first, 2026-10-25T02:30:00+01:00 the second',
      'line 7, row 6: R6, CAPTURE, 1.50 EUR, vault 7, at 2026-10-25T01:30:00.000Z',
      'line 8, row 7: execute_at "2026-12-01" is a day without a time; write it as ISO 8601, for example 2026-12-01T09:00:00',
    ],
  },
  {
    file: 'operations',
    fact: 'the words for operations are the gateway’s and everybody’s; capture in mixed case is neither',
    columns: ['type=transaction_type', 'currency=request_currency', 'vault_id=customer_vault_id'],
    rows: [
      'line 2, row 1: R1, CAPTURE, 1.50 EUR, vault 7',
      'line 3, row 2: R2, CAPTURE, 1.50 EUR, vault 7',
      'line 4, row 3: type "Capture" is not an operation; write CAPTURE for a sale, CAUTH to capture an authorization, AUTH, REFUND or CANCEL',
      'line 5, row 4: R4, AUTH, 1.50 EUR, vault 7',
    ],
  },
  {
    file: 'too-long-record',
    fact: 'a row larger than 64 KiB is refused',
    refused:
      'line 3: the row that begins in line 3 is larger than 64 KiB. look for a quotation mark in it that is never closed, for a wrong delimiter, or for missing line ends',
  },
  {
    file: 'too-long-cell',
    fact: 'a cell longer than a spreadsheet holds is refused',
    refused:
      'line 3: cell 6 of the row that begins in line 3 is longer than 32767 characters. look for a quotation mark in it that is never closed, or shorten the cell',
  },
  {
    file: 'too-many-columns',
    fact: 'more columns than a thousand are refused',
    refused:
      'line 1: the first line has 1002 columns; 1000 are the most. take out the columns that are not needed, or look for a wrong delimiter',
  },
  {
    file: 'results-fed-back',
    fact: 'results fed back keep their references and lose their own columns',
    columns: ['type=transaction_type', 'order_id=request_ref_po_id'],
    rows: ['line 2, row 1: 2026-12/R1, CANCEL, no amount, order 1'],
  },
  {
    file: 'results-cut',
    fact: 'results without their references are refused',
    refused:
      'line 1: the file has the results\' column "result_status" but no column result_reference. feed results back with all their columns, or remove every column that begins with result_',
  },
  {
    file: 'mark-in-the-middle',
    fact: 'a byte order mark in front of a pasted row is no part of its reference',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001', 'line 3, row 2: R2, REFUND, 1.00 EUR, order 1002'],
  },
  {
    file: 'row-taken-in',
    fact: 'a quotation mark that takes in the next row is refused: an instruction would be lost in a note',
    refused:
      'line 2: a quotation mark in the row that begins in line 2 takes in line 3, which looks like a row of its own. close the quotation mark in its own row, or write one that belongs to the text twice ("") inside a quoted cell',
  },
  {
    file: 'row-taken-in-of-two',
    fact: 'with two columns such a line may be an address: it is a warning',
    options: { operation: 'CANCEL' },
    columns: ['order_id=request_ref_po_id'],
    rows: [
      'line 2, row 1: dccc85b73bfa5e19-1, CANCEL, no amount, order 1001',
      'line 4, row 2: dccc85b73bfa5e19-2, CANCEL, no amount, order 1003',
    ],
    warnings: [
      'Line 3 is inside quotation marks and is part of a cell. If it is a row of its own, close the quotation mark before it: as it is now, it is not sent.',
    ],
  },
  {
    file: 'note-of-several-lines',
    fact: 'a note of several lines with delimiters in it is a note',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'formula-around-id',
    fact: 'an id inside a formula that keeps its zeros is an error',
    rows: [
      'line 2, row 1: request_ref_po_id "="00123"" begins with a character that a spreadsheet takes for a formula, or with a control character; write it without that character',
      'line 3, row 2: reference "="R2"" begins with a character that a spreadsheet takes for a formula, or with a control character; write it without that character',
    ],
  },
  {
    file: 'dos-end-mark',
    fact: 'the end mark of old systems is nothing',
    rows: ['line 2, row 1: R1, REFUND, 12.30 EUR, order 1001'],
  },
  {
    file: 'ditto-mark',
    fact: 'a quotation mark that means "as above" is no empty cell',
    rows: [
      'line 2, row 1: R1, REFUND, 12.30 EUR, order 1001',
      'line 3, row 2: amount """ is not an amount with "." as the decimal sign; write it as digits and decimals only, for example 1234.56 | request_ref_po_id """ is not digits only; use the id exactly as the gateway gave it',
    ],
  },
  {
    file: 'footer',
    fact: 'a line of words below the rows is refused',
    refused:
      'line 3: the row has 1 cell and the header 6. look for a delimiter inside a cell that is not in quotation marks, a cell that is missing, or a missing line end',
  },
  {
    file: 'comment-line',
    fact: 'a comment above the column names is a title',
    refused:
      'line 1: the file begins with "# refunds of November" where the column names should be; line 2 looks like the column names. take out line 1, so that the column names come first, or leave them in and say --header-row 2',
  },
]

test.each(CASES)('$fact ($file)', async ({ file, fact, options, ...expected }) => {
  expect(await outcomeOf(join(CORPUS, `${file}.csv`), options)).toEqual(expected)
})

test('every file of the corpus has its outcome', () => {
  expect(CASES.map(({ file }) => `${file}.csv`).toSorted()).toEqual(readdirSync(CORPUS).toSorted())
})
