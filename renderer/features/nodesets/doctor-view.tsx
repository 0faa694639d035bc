// The doctor: what this machine has and lacks, each with the command that was run, its output and what to do.
import { Check, CircleX } from 'lucide-react';
import type { RequestOutput } from '#contract/api.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatPlural } from '../../ui/format.ts';
import { Skeleton } from '../../ui/page.tsx';
import { useLoad } from '../../ui/use-request.ts';

type Report = RequestOutput<'doctor.run'>;
type DoctorCheck = Report['checks'][number];

export function DoctorView() {
  const { client } = useStudio();
  const report = useLoad('doctor', (signal) => client.request('doctor.run', {}, signal));
  const { value } = report;
  const toFix = (value?.checks ?? []).filter((check) => !check.ok).length;
  return (
    <div className="page-body doctor">
      <div className="row">
        <button type="button" className="button" disabled={report.isLoading} onClick={report.reload}>
          {report.isLoading ? 'Checking' : 'Check again'}
        </button>
        {value ? <CopyButton withLabel text={reportText(value)} label="Copy report" /> : null}
        <output className="muted">
          {value ? (toFix === 0 ? 'Everything is in order.' : `${formatPlural(toFix, 'thing')} to fix.`) : ''}
        </output>
      </div>
      {report.error ? <ErrorCallout title="The checks could not be made." error={report.error} /> : null}
      {value === null && report.isLoading ? <Skeleton lines={8} label="Checking" /> : null}
      <ul className="lines">
        {(value?.checks ?? [])
          .toSorted((a, b) => Number(a.ok) - Number(b.ok))
          .map((check) => (
            <CheckLine key={check.name} check={check} />
          ))}
      </ul>
    </div>
  );
}

function CheckLine({ check }: { readonly check: DoctorCheck }) {
  return (
    <li className="doctor-check">
      <span className={check.ok ? 'check-good' : 'check-bad'}>
        {check.ok ? <Check size={14} aria-label="good" /> : <CircleX size={14} aria-label="to fix" />}
      </span>
      <div className="grow">
        <div>{check.name}</div>
        {check.command ? <code className="faint">{check.command}</code> : null}
        <div className="small muted words">{check.output}</div>
        {check.fix === '' ? null : <div className="small words">{check.fix}</div>}
      </div>
    </li>
  );
}

function reportText(report: Report): string {
  return report.checks
    .map(({ ok, name, command, output, fix }) => {
      const more = [command && `$ ${command}`, output, fix && `-> ${fix}`].filter(Boolean);
      return [`${ok ? 'ok ' : 'BAD'} ${name}`, ...more.map((line) => `    ${line}`)].join('\n');
    })
    .join('\n');
}
