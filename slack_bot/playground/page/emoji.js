// Reactions come by name, as Slack has them. The common ones are drawn; every other one is shown by its name.

const CHARACTERS = {
  "+1": "👍", "-1": "👎", thumbsup: "👍", thumbsdown: "👎", clap: "👏", wave: "👋", raised_hands: "🙌", pray: "🙏",
  hourglass: "⌛", hourglass_flowing_sand: "⏳", eyes: "👀", thinking_face: "🤔", robot_face: "🤖", bulb: "💡",
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", warning: "⚠️", no_entry: "⛔", octagonal_sign: "🛑",
  heart: "❤️", tada: "🎉", rocket: "🚀", fire: "🔥", star: "⭐", zap: "⚡", 100: "💯", smile: "😄", joy: "😂", cry: "😢",
};

/** What stands for the emoji `name`: its character, else `:name:`. */
export function drawn(name) {
  return Object.hasOwn(CHARACTERS, name) ? CHARACTERS[name] : `:${name}:`;
}
