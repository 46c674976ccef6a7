// Figures for whoever wants to quote them: printed with NEMESIS_FIGURES=1 only, to keep the output of tests clean.

export function tell(line: string): void {
  if (process.env.NEMESIS_FIGURES !== undefined) process.stderr.write(`nemesis: ${line}\n`)
}
