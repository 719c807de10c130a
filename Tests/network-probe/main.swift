import Glibc

// What the tests run in a network namespace of their own, and read line by line:
//   network-probe watch [--buffer BYTES] [--sysfs FOLDER] [--metered PATTERN]
//   network-probe listen [HOST]
//   network-probe tun NAME
// Ends with its standard input; a line on that is a question: `route ADDRESS [INDEX]`, `status`.
let arguments = Array(CommandLine.arguments.dropFirst())
let probe: Probe? =
    switch arguments.first {
    case "watch": .watching(arguments.dropFirst())
    case "tun": .holding(tun: arguments.dropFirst().first ?? "tun0")
    case "listen": .listening(to: arguments.dropFirst().first)
    default: nil
    }
guard let probe else {
    Line.write("no such probe")
    exit(2)
}
while let question = readLine() { probe.answer(question) }
