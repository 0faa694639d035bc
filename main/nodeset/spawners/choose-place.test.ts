// Where a nodeset runs, by who said what.
import { describe, expect, it } from 'vitest';
import { spawnerSettings } from '../../contract/spawners.ts';
import { choosePlace } from './choose-place.ts';

const python = { name: 'maze', language: 'python' } as const;
const imaged = { ...python, needs: { image: 'maze:1' } };
const settings = (given: object = {}) => spawnerSettings.parse(given);

describe('the place of a nodeset', () => {
  it('is this machine unless somebody says otherwise', () => {
    expect(choosePlace(python, settings())).toBe('local');
    expect(choosePlace({ ...python, language: 'typescript' }, settings({ default: 'ray' }), 'ray')).toBe(
      'local',
    );
  });

  it('is Docker for a nodeset that names an image', () => {
    expect(choosePlace(imaged, settings())).toBe('docker');
    expect(choosePlace(imaged, settings({ default: 'local' }))).toBe('local');
  });

  it('is what the run says, before Settings, before the nodeset', () => {
    const wants = { ...python, needs: { spawner: 'ray' as const } };
    expect(choosePlace(wants, settings())).toBe('ray');
    expect(choosePlace(wants, settings({ nodesets: { maze: 'local' } }))).toBe('local');
    expect(choosePlace(wants, settings({ nodesets: { maze: 'local' } }), 'ray')).toBe('ray');
  });

  it('is refused where Docker is asked for without an image, and skipped where it is only the default', () => {
    expect(() => choosePlace(python, settings(), 'docker')).toThrow('names no image');
    expect(choosePlace(python, settings({ default: 'docker' }))).toBe('local');
  });

  it('is refused for TypeScript nodesets that Settings send elsewhere', () => {
    const nodeset = { ...python, language: 'typescript' } as const;
    expect(() => choosePlace(nodeset, settings({ nodesets: { maze: 'ray' } }))).toThrow('this machine only');
  });
});
