import Glibc

// A program of the tests in a network namespace of their own, whose output is read line by line:
// ```
// network-probe watch [--buffer BYTES] [--sysfs FOLDER] [--metered PATTERN]
// network-probe listen [HOST]
// network-probe tun NAME
// ```
// The program ends with its standard input, whose lines are questions: `route ADDRESS [INDEX]`, `status`.
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
