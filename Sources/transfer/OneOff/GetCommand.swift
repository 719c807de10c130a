import ArgumentParser
import FoundationEssentials
import Glibc
import TransferCore
import TransferQueue

struct Get: AsyncParsableCommand, RequestCommand {
    static let configuration = CommandConfiguration(
        abstract: "Download URLs, each to a file of its own.",
        discussion: """
            A URL without a scheme uses https. A list of URLs is read from standard input for -. With -o -, standard \
            output gets the file once it is whole and its checksum is right.
            """)

    @Argument(help: ArgumentHelp("The URLs to download, or - for a list.", valueName: "url"))
    var urls: [String] = []

    @Option(
        name: [.customShort("i"), .customLong("input-file")],
        help: ArgumentHelp(
            "A list of URLs, one a line; a list of aria2's or curl's; a CSV; or a job file. - is standard input.",
            valueName: "list"), completion: .file(), transform: PathArgument.text)
    var lists: [String] = []

    @OptionGroup(title: "Files") var place: DestinationOptions

    @Option(help: ArgumentHelp("A further source of the file of the one URL.", valueName: "url"))
    var mirror: [String] = []

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Print what would be fetched; fetch nothing.")
    var dryRun = false

    @Flag(
        name: .customLong("no-metalink"),
        help: """
            Store Metalinks that URLs name or lead to. By default, the files that they describe are fetched \
            instead.
            """)
    var noMetalink = false

    @OptionGroup(title: "Lists") var list: ListOptions
    @OptionGroup(title: "Lists") var metalink: MetalinkOptions
    @OptionGroup(title: "Requests") var coding: CodingOptions
    @OptionGroup(title: "Proofs") var proof: ProofOptions
    @OptionGroup(title: "Requests") var message: MessageOptions
    @OptionGroup(title: "Requests") var s3: S3Arguments
    @OptionGroup(title: "Requests") var fields: FieldOptions
    @OptionGroup(title: "Logins, proxies and TLS") var login: LoginArguments
    @OptionGroup(title: "Logins, proxies and TLS") var proxy: ProxyOptions
    @OptionGroup(title: "Logins, proxies and TLS") var trust: TrustOptions
    @OptionGroup(title: "The queue") var configuration: ConfigurationOptions
    @OptionGroup(title: "Attempts and limits") var attempts: AttemptOptions
    @OptionGroup(title: "Attempts and limits") var limits: LimitOptions
    @OptionGroup(title: "Output") var show: OutputOptions
    @OptionGroup(title: "The queue") var queue: OneOffPlaceOptions

    private var output: String? { place.output }

    /// The URLs, and - for standard input among them.
    private var named: [String] { words.filter { !isMetalink($0) } }
    private var inputs: [String] { lists + urls.filter { $0 == "-" } }
    /// The Metalinks among the URLs, also local files.
    private var metalinks: [String] { words.filter(isMetalink) }
    private var words: [String] { urls.filter { $0 != "-" }.map(URLArgument.completed) }

    private func isMetalink(_ word: String) -> Bool {
        guard FetchedDocument.isMetalink(word) else { return false }
        return FetchedDocument.isURL(word) ? !noMetalink : access(word, F_OK) == 0
    }

    /// Returns the rules for reading lists.
    ///
    /// - Parameter spool: The path of the one file that is written to standard output.
    private func ways(to spool: String?) -> ListRules {
        var ways = list.rules(destination: output)
        ways.metalink = metalink.rules(output: place.isTemplate ? nil : spool ?? output)
        ways.documents = documents
        return ways
    }

    private var documents: FetchedDocument { FetchedDocument(options: request.words, asksNoServer: dryRun) }

    func validate() throws {
        _ = try request.rules()
        if urls.isEmpty, lists.isEmpty, !mirror.isEmpty {
            throw ValidationError(
                "--mirror is one more source of the one URL: name that too (web sites are not copied)")
        }
        if let directory = place.directory,
            directory.contains("=") || ["@", "{", "http"].contains(where: directory.hasPrefix)
        {
            throw ValidationError("-d is the folder to put the files into; --data is what a request says")
        }
        if let url = lists.first(where: { $0.contains("://") }) {
            throw ValidationError("-i takes a file with URLs, a line each; get \(Redaction.url(url)) without it")
        }
        if show.json, urls.contains(where: { $0.hasPrefix("{") || $0.hasPrefix("[{") }) {
            throw ValidationError(
                "--json reports events and takes no text; --data TEXT -H 'Content-Type: application/json' sends JSON")
        }
        if urls.isEmpty, lists.isEmpty { throw ValidationError("name a URL, or a list of them with -i") }
        if !metalinks.isEmpty {
            // A Metalink may describe more than one URL.
            let others: [(Bool, String)] = [
                (proof.checksum != nil, "--checksum"), (!mirror.isEmpty, "--mirror"),
                (message.method != nil, "--method"),
                (message.data != nil, "--data"),
            ]
            if let option = others.first(where: \.0) {
                throw ValidationError("\(option.1) goes with a URL of a file, not with a Metalink")
            }
        }
        if words.count + inputs.count > 1 || words.isEmpty {
            let alone: [(Bool, String)] = [
                (output != nil && !place.isTemplate, "--output without a place such as {name}"),
                (proof.checksum != nil, "--checksum"), (!mirror.isEmpty, "--mirror"),
            ]
            if let option = alone.first(where: \.0) { throw ValidationError("\(option.1) goes with one URL") }
        }
        if !inputs.isEmpty, message.method != nil || message.data != nil {
            throw ValidationError("--method and --data go with URLs, not with lists")
        }
        if let refusal = output.flatMap(DestinationNames.refusal(ofDestination:)) {
            throw ValidationError("--output: \(refusal)")
        }
        if output == "-", proof.ifExists != nil { throw ValidationError("--if-exists is for files, not for -o -") }
        if proof.checksum != nil, proof.checksums != nil {
            throw ValidationError("--checksum and --checksums do not go together")
        }
        try coding.check(request.segments)
        if queue.address != nil {
            try FleetOneOff.check(limits, show, standardInput: output == "-" || inputs.contains("-"))
        }
        if inputs.filter({ $0 == "-" }).count > 1 { throw ValidationError("standard input is one list") }
        if output == "-", show.json || show.jsonProgress {
            throw ValidationError("standard output is for the file or for --json, not for both")
        }
        for url in mirror where try LoginArguments.withoutUser(url).user != nil {
            throw ValidationError("--mirror: its URL cannot name a user; --user is for all sources")
        }
        for (option, url) in named.map({ ("", $0) }) + mirror.map({ ("--mirror: ", URLArgument.completed($0)) }) {
            let (url, _) = try request.login.settings(of: url)
            guard JobSpec.isSupported(url: url) else { throw ValidationError(option + JobSpec.refusal(of: url)) }
        }
        for url in metalinks where FetchedDocument.isURL(url) && !JobSpec.isSupported(url: url) {
            throw ValidationError(JobSpec.refusal(of: url))
        }
        if !inputs.isEmpty { _ = try listRules() }
    }

    func run() async throws {
        try request.fields.checkFiles()
        let fleet = queue.fleet
        let directory =
            fleet == nil
            ? Composition.absolute(place.directory ?? FileManager.default.currentDirectoryPath)
            : place.directory ?? ""
        var work = OneOff(verb: "get", folder: directory, limits: limits, output: show, state: queue.state)
        work.fleet = fleet
        work.configuration = try request.configuration.load()
        work.follows = !noMetalink
        if output == "-", !dryRun { work.results = [try StreamSpool(.output, of: words[0], state: queue.state)] }
        if !inputs.isEmpty || !metalinks.isEmpty {
            let rules = try listRules(isAsking: !dryRun, work.configuration)
            let known = Composition.hooks(show.hooks, work.configuration)
            work.lists = try (inputs + metalinks).map {
                try JobFileSource($0, rules: rules, list: ways(to: work.results.first?.path), hooks: known)
            }
        }
        let body = try message.body()
        var rules = try request.rules()
        try s3.lay(over: &rules)
        try coding.lay(over: &rules)
        rules.configuration = work.configuration
        let typed = dryRun ? nil : try request.login.askedPasswords(for: named)
        let sums = try proof.list(documents)
        work.collisions = list.collisions?.value
        for (index, named) in named.enumerated() {
            let job = { (rules: RequestRules) throws -> JobSpec in
                try self.job(
                    named, rules, number: index + 1, to: work.results.first?.path, body: body, typed: typed, sums: sums)
            }
            var made = try job(rules)
            if !rules.configuration.isEmpty { made.lasting = try job(rules.unconfigured).spelt.fingerprint }
            work.jobs.append(made)
        }
        if dryRun {
            try work.printPlan()
            // The option -n has another meaning in curl.
            return print("nothing was fetched (-n is --dry-run; --netrc reads ~/.netrc)")
        }
        let status = try await work.run()
        guard status == .complete, work.follows, !work.found.receipts.isEmpty else { ExitStatus.exit(status) }
        ExitStatus.exit(try await follow(work))
    }

    /// Fetches the files of Metalinks that came in place of files.
    private func follow(_ first: OneOff) async throws -> ExitStatus {
        let rules = try listRules(isAsking: true, first.configuration)
        var work = OneOff(
            verb: "get", folder: first.folder, limits: limits, output: show, state: queue.state)
        work.configuration = first.configuration
        work.results = first.results
        for receipt in first.found.receipts {
            let bytes: [UInt8]
            do throws(TransferError) {
                bytes = try MappedFile(receipt.path).withBytes { Array($0) }
            } catch {
                throw Failure(.unreadableJobFile, error.message)
            }
            // The Metalink is not the requested file.
            unlink(receipt.path)
            work.lists.append(
                try JobFileSource(
                    receipt.finalURL, rules: rules, list: ways(to: work.results.first?.path), contents: bytes))
        }
        return try await work.run()
    }

    /// Makes the job of a URL.
    ///
    /// - Parameters:
    ///   - named: The URL as it was written.
    ///   - number: Its position among the others.
    ///   - spool: The path of the file that is written to standard output.
    private func job(
        _ named: String, _ rules: RequestRules, number: Int, to spool: String?, body: String?,
        typed: TypedPasswords?, sums: ChecksumList?
    ) throws -> JobSpec {
        let mirrors = try mirror.map { try LoginArguments.withoutUser(URLArgument.completed($0)).url }
        let start = try rules.start(for: [LoginArguments.withoutUser(named).url] + mirrors)
        let (url, settings) = try request.login.settings(of: named, base: start.settings, typed: typed)
        var download = start.download
        download.urls = [url] + mirrors
        let destination = output.map { DestinationNames.destination($0, of: url, number: number) }
        download.destination = spool ?? destination ?? "./"
        download.checksum = try proof.checksum?.checksum ?? listed(url, destination, sums)
        if let ifExists = spool != nil ? .overwrite : proof.ifExists?.value { download.ifExists = ifExists }
        if proof.strict || download.strict { download = download.strictly }
        if let method = message.method ?? (body == nil ? nil : "POST") { download.method = method }
        download.body = body ?? download.body
        var spec = JobSpec(work: .download(download), priority: start.priority, settings: settings)
        // The spool's path would say nothing to the reader of a message.
        if spool != nil { spec.id = SafeFileName.fromURL(url) ?? "standard output" }
        return spec
    }

    /// Returns the checksum of the URL's file in the list.
    private func listed(_ url: String, _ destination: String?, _ sums: ChecksumList?) throws -> Checksum? {
        guard let sums, !sums.isUnread else { return nil }
        if sums.isUnnamed, words.count > 1 {
            throw Failure(
                .wrongUsage, "--checksums: the list holds a digest without a name, which cannot be that of several URLs"
            )
        }
        let name = destination.flatMap { $0 == "-" ? nil : $0 } ?? url.prefix { $0 != "?" && $0 != "#" }.description
        if let sum = sums.checksum(of: name) { return sum }
        throw Failure(.wrongUsage, "--checksums: no checksum for \(Redaction.url(url)) is listed")
    }

    /// Returns the rules that the options set for jobs from lists.
    private func listRules(
        isAsking: Bool = false, _ configuration: Configuration = Configuration()
    ) throws -> RequestRules {
        var rules = try request.rulesOfFiles(isAsking: isAsking)
        try s3.lay(over: &rules)
        try proof.lay(over: &rules, documents)
        try coding.lay(over: &rules)
        // The spool of standard output may be overwritten, as it is no user's file.
        if output == "-" { _ = rules.set("ifExists", to: #""overwrite""#) }
        rules.configuration = configuration
        return rules
    }
}
