// A text field over a value of the address: the field answers at once, the address follows when typing pauses. What
// was typed is forgotten when it was applied, or when the value was changed elsewhere meanwhile.
import { useEffect, useRef, useState } from 'react';

const typingMs = 200;

export function useTypedText(value: string, apply: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState<{ readonly text: string; readonly over: string } | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef({ value, apply });
  useEffect(() => {
    latest.current = { value, apply };
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (text: string): void => {
    clearTimeout(timer.current);
    setTyped({ text, over: value });
    timer.current = setTimeout(() => {
      setTyped(null);
      if (latest.current.value === value) latest.current.apply(text);
    }, typingMs);
  };
  return [typed?.over === value ? typed.text : value, change];
}
