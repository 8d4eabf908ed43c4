// Plain words for the names of the code that a story tells of.

/** Of each decision: in short, and what it means. */
export const DECISIONS = {
  NoOp: ["nothing to do", "What came changes nothing in the thread."],
  nothing: ["nothing to do", "What came changes nothing in the thread."],
  late: ["too late", "It came after the turn was over, and is not shown."],
  stopped: ["not shown", "It came after Stop was pressed."],
  ShowStatus: ["typing status", "The line under the thread that says what the agent does."],
  AppendText: ["text added", "More of the answer, shown while the agent writes."],
  FlushText: ["text shown now", "Nothing follows soon, so what was collected is shown at once."],
  RetractText: ["text held back", "The end of the text, which nobody has seen yet, is not shown."],
  UpdateCard: ["step card", "The card of a step or tool is opened or changed."],
  SetPlanTitle: ["title of the steps", "The line above the cards."],
  RewriteAnswer: ["text corrected", "At the end the thread reads what the agent's whole answer says."],
  ShowForm: ["form shown", "The agent asks back: its question stands in the thread as a form."],
  ShowExtra: ["table, chart, file", "It is shown below the text when that is whole."],
  NameSources: ["sources listed", "They stand under the answer."],
  ActInSlack: ["an action asked for", "The channel says whether the agent may."],
  SuggestQuestions: ["next questions offered", "They are buttons below the answer."],
  SaveIds: ["ids noted", "The agent's ids of the task and the conversation are kept with the thread."],
  EndTurn: ["end", "The turn is over, and the thread says so."],
};

const HEARD = {
  TurnBegun: "the question was taken",
  TaskKnown: "the agent named its task",
  Narrated: "the agent told what it does",
  AnswerText: "text of the answer came",
  AnswerReplaced: "another text took the place of the answer",
  NarrationConfirmed: "the text before was no answer yet",
  FinalAnswer: "the whole answer came",
  ToolStarted: "a tool began",
  ToolEnded: "a tool ended",
  PlanChanged: "the plan changed",
  Attached: "something to show came",
  SourcesFound: "sources came",
  ActsAsked: "an action was asked for",
  NextQuestionsFound: "next questions came",
  InputRequired: "the agent asks back",
  AuthCompleted: "somebody has signed in",
  TaskEnded: "the task ended",
  AgentIdle: "the agent is silent",
  StreamEnded: "the stream ended",
  StopRequested: "Stop was pressed",
};

const MARKS = { is_narration: "marked by the agent as told in passing", is_final_answer: "marked by the agent as the answer" };
const LATCHES = { answer_begun: "the answer had begun", final_seen: "the whole answer came", asked: "the agent asked back", stop_asked: "Stop was pressed" };

export function heard(event) { return HEARD[event] ? `${HEARD[event]} (${event})` : event; }

/** A reason, with the marks of agents in plain words before their names. */
export function because(reason) {
  return reason.replace(/\b(is_narration|is_final_answer) on \w+/, (marked, mark) => `${MARKS[mark]} (${marked})`);
}

/** What had happened in a turn when it ended. */
export function happened(latches) { return Object.keys(LATCHES).filter((name) => latches[name]).map((name) => LATCHES[name]); }
