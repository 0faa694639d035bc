// The doctor's report: each check with its command, output and what to do.
import { Check, CircleX } from 'lucide-react';
import type { RequestOutput } from '#contract/api.ts';
import { useState } from 'react';
import { useStudio } from '../../store/use-studio.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { useAction } from '../../ui/use-request.ts';

type Report = RequestOutput<'doctor.run'>;

export function DoctorSection() {
  const { client } = useStudio();
  const [report, setReport] = useState<Report | null>(null);
  const running = useAction();
  const run = (): void => running.run(async () => setReport(await client.request('doctor.run', {})));
  return (
    <>
      <div className="row">
        <button type="button" className="button" disabled={running.isBusy} onClick={run}>
          {running.isBusy ? 'Checking' : report ? 'Check again' : 'Run the checks'}
        </button>
        {report ? <CopyButton withLabel text={reportText(report)} label="Copy report" /> : null}
        <output className="muted">
          {report ? (report.ok ? 'Everything is in order.' : 'Something needs attention.') : ''}
        </output>
      </div>
      {running.error ? <ErrorCallout title="The checks could not be made." error={running.error} /> : null}
      <ul className="lines">
        {(report?.checks ?? []).map((check) => (
          <li key={check.name} className="doctor-check">
            <span className={check.ok ? 'check-good' : 'check-bad'}>
              {check.ok ? <Check size={14} aria-label="good" /> : <CircleX size={14} aria-label="to fix" />}
            </span>
            <div className="grow">
              <div>{check.name}</div>
              {check.command ? <code className="faint">{check.command}</code> : null}
              <div className="small muted words">{check.output}</div>
              {check.ok || !check.fix ? null : <div className="small">{check.fix}</div>}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

function reportText(report: Report): string {
  return report.checks
    .map((check) =>
      [
        `${check.ok ? 'ok ' : 'BAD'} ${check.name}`,
        check.command && `    $ ${check.command}`,
        `    ${check.output}`,
        !check.ok && check.fix && `    -> ${check.fix}`,
      ]
        .filter(Boolean)
        .join('\n'),
    )
    .join('\n');
}
