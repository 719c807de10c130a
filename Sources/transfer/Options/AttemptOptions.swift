import ArgumentParser
import TransferQueue

/// The options of connections and attempts, the same for `get`, `put`, `copy`, `run` and `watch`.
struct AttemptOptions: ParsableArguments {
    @Flag(name: .customLong("http1.1"), help: "Use HTTP/1.1, also with servers that support HTTP/2.")
    var http1 = false

    @Option(
        name: .customLong("interface"),
        help: ArgumentHelp("The only link to use. Without that link, the transfers wait.", valueName: "name"),
        transform: LinkArgument.text)
    var link: String?

    @Option(
        help: ArgumentHelp(
            "The number of connections for one file: 1 to 32, or auto. auto adds connections while they increase the "
                + "throughput. For uploads, the number of parts at a time.",
            valueName: "n"), transform: SegmentsArgument.read)
    var segments: SegmentsArgument?

    @Option(
        help: ArgumentHelp("The number of attempts after the first.", valueName: "n"),
        transform: WholeNumber.reader(FieldRanges.retries))
    var retry: Int?

    @Option(
        name: .customLong("retry-delay"), help: ArgumentHelp("The delay between attempts.", valueName: "time"),
        transform: Delay.read)
    var retryDelay: Delay?

    @Flag(
        name: .customLong("retry-all-errors"),
        help: "Try again also after error statuses that are final otherwise, such as 404.")
    var retriesAllErrors = false

    @Option(
        name: .customLong("connect-timeout"),
        help: ArgumentHelp("The longest time to connect, TLS included.", valueName: "time"), transform: TimeSpan.read)
    var connectTimeout: TimeSpan?

    @Option(help: ArgumentHelp("The longest silence of a server.", valueName: "time"), transform: TimeSpan.read)
    var timeout: TimeSpan?

    @Option(
        name: .customLong("max-time"),
        help: ArgumentHelp("The longest time that one attempt may take.", valueName: "time"), transform: TimeSpan.read)
    var maxTime: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "The congestion control of connections that send: a name of the kernel's (bbr, cubic), system, or auto "
                + "(the default). system is the machine's own. auto is the machine's own too, and bbr where the link "
                + "loses packets.",
            valueName: "name"), transform: CongestionArgument.read)
    var congestion: CongestionArgument?

    @Flag(help: "Leave room to other traffic on the same link: slow down as soon as packets wait in a queue.")
    var background = false

    /// Adds the given options to the members of the rules.
    func add(to members: inout RequestMembers) {
        if http1 { members.add("httpVersion", .string("1.1"), "--http1.1") }
        members.add("network", link.map { .object(["require": .string($0)]) }, "--interface")
        members.add("segments", segments?.json, "--segments")
        members.add("retry", retry.map { .object(["limit": .number($0)]) }, "--retry")
        members.add("retry", retryDelay.map { .object(["scale": $0.json, "maxDelay": $0.json]) }, "--retry-delay")
        let errors = JSONText.object(["statusCodes": .array((400...599).map { .number($0) })])
        members.add("retry", retriesAllErrors ? errors : nil, "--retry-all-errors")
        members.add("connectTimeout", connectTimeout?.json, "--connect-timeout")
        members.add("timeout", timeout?.json, "--timeout")
        members.add("maxTime", maxTime?.json, "--max-time")
        members.add("congestion", congestion.map { .string($0.control.text) }, "--congestion")
        if background { members.add("background", .true, "--background") }
    }

    /// Adds the given options to the words of another command line.
    func add(to given: inout GivenOptions) {
        given.add("--http1.1", http1)
        given.add("--interface", link)
        given.add("--segments", segments?.written)
        given.add("--retry", retry.map { "\($0)" })
        given.add("--retry-delay", retryDelay?.written)
        given.add("--retry-all-errors", retriesAllErrors)
        given.add("--connect-timeout", connectTimeout?.written)
        given.add("--timeout", timeout?.written)
        given.add("--max-time", maxTime?.written)
        given.add("--congestion", congestion?.control.text)
        given.add("--background", background)
    }
}
