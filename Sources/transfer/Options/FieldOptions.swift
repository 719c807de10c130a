import ArgumentParser
import TransferCore
import TransferQueue

/// The options for the header fields of each request.
struct FieldOptions: ParsableArguments {
    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "A header field to send. '$VARIABLE' and '@FILE' name a secret value.", valueName: "name: value"))
    var headers: [String] = []

    @Option(
        name: [.customShort("A"), .customLong("user-agent")],
        help: ArgumentHelp("The User-Agent field.", valueName: "name"))
    var userAgent: String?

    @Option(name: [.customShort("e"), .long], help: ArgumentHelp("The Referer field.", valueName: "url"))
    var referer: String?

    @Option(
        name: [.customShort("b"), .customLong("cookie"), .customLong("load-cookies")],
        help: ArgumentHelp(
            "A file of cookies in Netscape's format, or '$VARIABLE' with the Cookie field for the job's own server.",
            valueName: "file|$variable"))
    var cookies: String?

    func validate() throws {
        // Other tools use these letters for other options.
        if let cookies, let mark = cookies.firstRange(of: "://"), cookies[..<mark.lowerBound].allSatisfy(\.isLetter) {
            throw ValidationError(
                "-b takes cookies; `nohup`, or systemd's units in the manual, run it in the background")
        }
        if let userAgent, userAgent.hasPrefix("*") {
            throw ValidationError("-A is the User-Agent field; names are not matched, as web sites are not copied")
        }
        if let referer, referer.hasPrefix("robots=") {
            throw ValidationError("-e is the Referer field; robots.txt is not asked, as web sites are not copied")
        }
    }

    func add(to members: inout RequestMembers) throws {
        var seen: Set<String> = userAgent == nil ? [] : ["user-agent"]
        if referer != nil { seen.insert("referer") }
        for header in try HeaderArgument.settings(headers) {
            guard seen.insert(header.name.lowercased()).inserted else {
                throw ValidationError("--header: \(header.name) is given twice")
            }
            members.add("headers", .object([header.name: JSONText(header.value)]), "--header")
        }
        members.add("headers", userAgent.map { .object(["User-Agent": .string($0)]) }, "--user-agent")
        members.add("headers", referer.map { .object(["Referer": .string($0)]) }, "--referer")
        guard let cookies else { return }
        if cookies.hasPrefix("$") {
            let value = try SecretArgument.value(cookies, "--cookie")
            return members.add("headers", value.map { .object(["Cookie": JSONText($0)]) }, "--cookie")
        }
        guard !cookies.contains("=") else {
            // Every user of the machine can see the command line.
            throw ValidationError(
                "every user can see a command line: name a file of cookies, or write --cookie '$VARIABLE'")
        }
        members.add("cookies", .path(cookies), "--cookie")
    }

    /// Checks the file of cookies before anything begins.
    ///
    /// - Throws: `Failure` for a file of cookies that cannot be read.
    func checkFiles() throws(Failure) {
        guard let cookies, !cookies.hasPrefix("$"), let fault = CookieFile.fault(Composition.absolute(cookies)) else {
            return
        }
        throw Failure(.unreadableJobFile, "--load-cookies: \(fault)")
    }

    func add(to given: inout GivenOptions) {
        for header in headers { given.add("-H", header) }
        given.add("-A", userAgent)
        given.add("-e", referer)
        given.add("-b", cookies)
    }
}
