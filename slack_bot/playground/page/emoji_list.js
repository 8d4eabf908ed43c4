// The emoji that are offered, as `name characters`, in the order of the picker. The names are Slack's.

const OFFERED = `
smile 😄 grin 😁 laughing 😆 joy 😂 rolling_on_the_floor_laughing 🤣 slightly_smiling_face 🙂 upside_down_face 🙃 wink 😉 blush 😊
heart_eyes 😍 star-struck 🤩 sunglasses 😎 hugging_face 🤗 thinking_face 🤔 neutral_face 😐 expressionless 😑 smirk 😏
sweat_smile 😅 sweat 😓 cry 😢 sob 😭 scream 😱 open_mouth 😮 rage 😡 confused 😕 unamused 😒 sleeping 😴 dizzy_face 😵
exploding_head 🤯 face_with_rolling_eyes 🙄 zipper_mouth_face 🤐 nerd_face 🤓 partying_face 🥳 melting_face 🫠 saluting_face 🫡
robot_face 🤖 ghost 👻 skull 💀 see_no_evil 🙈 +1 👍 -1 👎 clap 👏 raised_hands 🙌 pray 🙏 wave 👋 ok_hand 👌 v ✌️
crossed_fingers 🤞 muscle 💪 point_up ☝️ point_down 👇 point_left 👈 point_right 👉 handshake 🤝 raised_hand ✋ writing_hand ✍️
eyes 👀 brain 🧠 shrug 🤷 facepalm 🤦 heart ❤️ orange_heart 🧡 yellow_heart 💛 green_heart 💚 blue_heart 💙 purple_heart 💜
broken_heart 💔 100 💯 fire 🔥 sparkles ✨ star ⭐ zap ⚡ boom 💥 tada 🎉 confetti_ball 🎊 balloon 🎈 gift 🎁 trophy 🏆 sports_medal 🏅
dart 🎯 crown 👑 rocket 🚀 airplane ✈️ car 🚗 train 🚆 ship 🚢 house 🏠 office 🏢 earth_africa 🌍 sunny ☀️ cloud ☁️ rainbow 🌈
snowflake ❄️ palm_tree 🌴 seedling 🌱 four_leaf_clover 🍀 cat 🐱 dog 🐶 unicorn_face 🦄 bug 🐛 turtle 🐢 snail 🐌 elephant 🐘
coffee ☕ tea 🍵 beer 🍺 beers 🍻 pizza 🍕 cake 🍰 birthday 🎂 apple 🍎 popcorn 🍿 cookie 🍪 white_check_mark ✅
heavy_check_mark ✔️ ballot_box_with_check ☑️ x ❌ warning ⚠️ no_entry ⛔ no_entry_sign 🚫 octagonal_sign 🛑 rotating_light 🚨
construction 🚧 question ❓ exclamation ❗ information_source ℹ️ heavy_plus_sign ➕ heavy_minus_sign ➖ arrow_up ⬆️
arrow_down ⬇️ arrow_left ⬅️ arrow_right ➡️ arrows_counterclockwise 🔄 repeat 🔁 red_circle 🔴 large_orange_circle 🟠
large_yellow_circle 🟡 large_green_circle 🟢 large_blue_circle 🔵 black_circle ⚫ white_circle ⚪ hourglass ⌛
hourglass_flowing_sand ⏳ stopwatch ⏱️ alarm_clock ⏰ calendar 📆 date 📅 bell 🔔 no_bell 🔕 mega 📣 loudspeaker 📢
speech_balloon 💬 thought_balloon 💭 zzz 💤 bulb 💡 mag 🔍 wrench 🔧 hammer 🔨 gear ⚙️ hammer_and_wrench 🛠️ link 🔗 lock 🔒
unlock 🔓 key 🔑 shield 🛡️ pushpin 📌 paperclip 📎 scissors ✂️ memo 📝 pencil2 ✏️ books 📚 book 📖 page_facing_up 📄
clipboard 📋 file_folder 📁 package 📦 mailbox 📫 email 📧 inbox_tray 📥 outbox_tray 📤 computer 💻 desktop_computer 🖥️
keyboard ⌨️ iphone 📱 telephone_receiver 📞 camera 📷 tv 📺 movie_camera 🎥 headphones 🎧 musical_note 🎵 art 🎨 ticket 🎫
moneybag 💰 chart_with_upwards_trend 📈 chart_with_downwards_trend 📉 bar_chart 📊 battery 🔋 electric_plug 🔌 test_tube 🧪
microscope 🔬 telescope 🔭 checkered_flag 🏁 triangular_flag_on_post 🚩 new 🆕 sos 🆘 ok 🆗 recycle ♻️ infinity ♾️`;

/** What is written otherwise, beside the name that is offered. */
const SAME = { thumbsup: "+1", thumbsdown: "-1", thinking: "thinking_face", simple_smile: "slightly_smiling_face", hand: "raised_hand", collision: "boom", envelope: "email", robot: "robot_face", rofl: "rolling_on_the_floor_laughing" };

/** Characters by name, in the order of the picker. */
export const CHARACTERS = new Map(OFFERED.trim().split(/\s+/).flatMap((word, at, all) => (at % 2 ? [] : [[word, all[at + 1]]])));
const NAMES = new Map([...CHARACTERS].map(([name, characters]) => [bare(characters), name]));

export function offeredName(name) { return Object.hasOwn(SAME, name) ? SAME[name] : name; }

/** The name of an emoji that is given as characters; undefined for one that is not offered. */
export function nameOfCharacters(characters) { return NAMES.get(bare(characters)); }

/** Names that fit what was begun: the one that is whole, those that begin so, then those of which a word begins so, then those that hold it. */
export function namesFor(begun) {
  const wanted = begun.toLowerCase();
  const rank = (name) => (name === wanted ? -1 : name.startsWith(wanted) ? 0 : name.split(/[_-]/).some((word) => word.startsWith(wanted)) ? 1 : name.includes(wanted) ? 2 : 3);
  const all = [...CHARACTERS.keys(), ...Object.keys(SAME)].map((name) => [rank(name), name]).filter(([found]) => found < 3);
  const fits = all.sort(([one], [other]) => one - other).map(([, name]) => name);
  return fits.filter((name, at) => fits.findIndex((other) => offeredName(other) === offeredName(name)) === at);
}

/** Without what says how they are to be drawn. */
function bare(characters) { return characters.replaceAll("\ufe0f", ""); }
