// A filter without knowing the grammar: column, comparison, value. What it makes is the expression itself.
import { Popover } from '@base-ui/react/popover';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { conditionText, type ConditionOperator } from './condition.ts';

export interface FilterBuilderProps {
  readonly columns: readonly string[];
  readonly onAdd: (condition: string) => void;
}

const operators: readonly { readonly value: ConditionOperator; readonly label: string }[] = [
  { value: '==', label: 'is' },
  { value: '!=', label: 'is not' },
  { value: '~', label: 'contains' },
  { value: '<', label: 'below' },
  { value: '<=', label: 'at most' },
  { value: '>', label: 'above' },
  { value: '>=', label: 'at least' },
  { value: 'missing', label: 'not measured' },
];

export function FilterBuilder({ columns, onAdd }: FilterBuilderProps) {
  const [isOpen, setOpen] = useState(false);
  const [column, setColumn] = useState(columns[0] ?? 'status');
  const [operator, setOperator] = useState<ConditionOperator>('==');
  const [value, setValue] = useState('');
  const needsValue = operator !== 'missing';
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className="button plain">
        <Plus size={13} aria-hidden="true" />
        Condition
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="start" className="layer">
          <Popover.Popup className="popup builder" aria-label="Add a condition">
            <form
              className="row"
              onSubmit={(event) => {
                event.preventDefault();
                onAdd(conditionText(column, operator, value));
                setValue('');
                setOpen(false);
              }}
            >
              <select
                className="select"
                aria-label="Column"
                value={column}
                onChange={(event) => setColumn(event.target.value)}
              >
                {columns.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
              <select
                className="select"
                aria-label="Comparison"
                value={operator}
                onChange={(event) => setOperator(event.target.value as ConditionOperator)}
              >
                {operators.map((choice) => (
                  <option key={choice.value} value={choice.value}>
                    {choice.label}
                  </option>
                ))}
              </select>
              {needsValue ? (
                <input
                  className="input"
                  aria-label="Value"
                  required
                  value={value}
                  onChange={(event) => setValue(event.target.value)}
                />
              ) : null}
              <button type="submit" className="button primary">
                Add
              </button>
            </form>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
