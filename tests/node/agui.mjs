// AG-UI's own client against a server of ours: node agui.mjs URL TOKEN SCENE. Prints what it saw as JSON.
import { HttpAgent } from "@ag-ui/client";

const [url, token, scene] = process.argv.slice(2);
const threadId = "thread-" + scene;

function agent(initialMessages = []) {
  return new HttpAgent({ url, threadId, initialMessages, headers: { Authorization: "Bearer " + token } });
}

async function run(one, input = {}) {
  const seen = { types: [], outcome: null, error: null, texts: "" };
  const subscriber = {
    onEvent: ({ event }) => {
      seen.types.push(event.type);
      if (event.type === "TEXT_MESSAGE_CONTENT") seen.texts += event.delta;
      if (event.type === "RUN_FINISHED") seen.outcome = event.outcome ?? null;
      if (event.type === "RUN_ERROR") seen.error = { message: event.message, code: event.code };
    },
  };
  try {
    await one.runAgent({ runId: "run-" + Math.random(), ...input }, subscriber);
  } catch (problem) {
    seen.error ??= { message: String(problem.message ?? problem), code: null };
  }
  seen.messages = one.messages.map((m) => ({ role: m.role, content: m.content ?? null, calls: (m.toolCalls ?? []).map((c) => c.function.name), error: m.error ?? null }));
  return seen;
}

const user = (content) => ({ id: "user-" + Math.random(), role: "user", content });
const yes = (i, more = {}) => ({ interruptId: i.id, status: "resolved", payload: { approved: true, ...more } });
const out = [];
const one = agent();
const say = async (text, input) => { one.addMessage(user(text)); out.push(await run(one, input)); };
const answer = async (resume, who = one) => out.push(await run(who, { resume }));
const asked = () => out.at(-1).outcome.interrupts;

switch (scene) {
  case "plain": await say("hello"); break;
  case "approve": await say("pay"); await answer([yes(asked()[0])]); break;
  case "edit": await say("pay"); await answer([yes(asked()[0], { editedArgs: { to: "ann", amount: 4 } })]); break;
  case "reject": await say("pay"); await answer([{ interruptId: asked()[0].id, status: "resolved", payload: { approved: false, reason: "too much" } }]); break;
  case "cancel": await say("pay"); await answer([{ interruptId: asked()[0].id, status: "cancelled" }]); break;
  // One client must cover what it was asked; another one of the same thread, such as a second window, need not.
  case "partial": { await say("pay"); const two = agent(one.messages); await answer([yes(asked()[0])], two); await answer([yes(asked()[0])], agent(two.messages)); } break;
  case "reload": await say("pay"); { const two = agent(); out.push(await run(two)); await answer([yes(out.at(-1).outcome.interrupts[0])], two); } break;
  case "stale": { await say("pay"); const first = asked()[0]; await answer([yes(first)]); const two = agent(one.messages); await answer([yes(first)], two); } break;
  case "unknown": await say("pay"); await answer([{ interruptId: "nix", status: "resolved", payload: { approved: true } }], agent(one.messages)); break;
  case "unclear": { await say("pay"); const first = asked()[0]; for (const payload of [{}, { approved: "yes" }, "yes", { approved: 1 }, { approved: true, editedArgs: "x" }]) out.push(await run(agent(one.messages), { resume: [{ interruptId: first.id, status: "resolved", payload }] })); } break;
  case "parked": await say("pay"); { const two = agent(one.messages); two.addMessage(user("and?")); out.push(await run(two)); } break;
  case "frontend": {
    const tools = [{ name: "pick_colour", description: "The person picks a colour.", parameters: { type: "object", properties: { of: { type: "string" } } } }];
    await say("colour", { tools });
    const id = out.at(-1).outcome.pendingToolCallIds[0];
    one.addMessage({ id: "tool-1", role: "tool", toolCallId: id, content: "blue" });
    out.push(await run(one, { tools }));
    break;
  }
  case "shadow": await say("pay", { tools: [{ name: "pay", description: "mine", parameters: { type: "object" } }] }); break;
  default: throw new Error("no scene " + scene);
}
console.log(JSON.stringify(out));
