import { render } from 'preact'
import './common.ts'
import { App } from './app.tsx'
import { loadPerson } from './person.ts'

void loadPerson()
render(<App />, document.body)
