import ArgumentParser
import FoundationEssentials
import TransferCore
import TransferQueue

struct Copy: AsyncParsableCommand, RequestCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy from server to server, without a local file; a URL that ends in / gets the source's name.",
        discussion: """
            Sources are of http, https, s3, ftp, ftps or sftp; the destination is of any protocol of put. The options \
            of requests and logins apply to the source. The settings of the destination are in --destination, as in a \
            job file, or in the configuration under its origin. The options --endpoint, --region and --profile apply \
            to the side whose URL is s3://, and to the source where both are.

            The same command again continues an interrupted copy, where both sides allow it.
            """)

    @Argument(help: ArgumentHelp("The sources, then the destination.", valueName: "url… url"))
    var urls: [String]

    @Option(help: ArgumentHelp("A further source of the file of the one URL.", valueName: "url"))
    var mirror: [String] = []

    @Option(
        help: ArgumentHelp("The digest that the one source must have, as sha256:HEX.", valueName: "sum"),
        transform: ChecksumArgument.read)
    var checksum: ChecksumArgument?

    @Option(
        help: ArgumentHelp(
            "The request settings and credentials for the destination, as in a job file: {\"auth\": {\"netrc\": true}}.",
            valueName: "json"))
    var destination: String?

    @Option(
        name: .customLong("protocol"),
        help: """
            The upload protocol: put, post, multipart, tus or resumable (the IETF draft). s3, ftp and sftp \
            follow from the URL.
            """,
        completion: .list(Choice<JobSpec.UploadProtocol>.names), transform: Choice.read)
    var uploadProtocol: Choice<JobSpec.UploadProtocol>?

    @Option(
        name: .customLong("chunk-size"),
        help: ArgumentHelp(
            "The most bytes of one request, such as 64M.", valueName: "bytes"),
        transform: ByteCountArgument.read)
    var chunkSize: ByteCountArgument?

    @Flag(
        name: .customLong("create-folders"), help: "Create missing folders on WebDAV, FTP and SFTP servers."
    )
    var createFolders = false

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Print what would be copied; copy nothing.")
    var dryRun = false

    @OptionGroup(title: "Requests") var s3: S3Arguments
    @OptionGroup(title: "Requests") var fields: FieldOptions
    @OptionGroup(title: "Logins, proxies and TLS") var login: LoginArguments
    @OptionGroup(title: "Logins, proxies and TLS") var proxy: ProxyOptions
    @OptionGroup(title: "Logins, proxies and TLS") var trust: TrustOptions
    @OptionGroup(title: "The queue") var configuration: ConfigurationOptions
    @OptionGroup(title: "Attempts and limits") var attempts: AttemptOptions
    @OptionGroup(title: "Attempts and limits") var limits: LimitOptions
    @OptionGroup(title: "Output") var show: OutputOptions
    @OptionGroup(title: "The queue") var state: StateOptions

    private var sources: [String] { urls.dropLast().map(URLArgument.completed) }

    func validate() throws {
        _ = try request.rules()
        guard urls.count >= 2, let to = urls.last else {
            throw ValidationError("name what to copy, and then where it goes: two URLs or more")
        }
        guard to.contains("://") else {
            throw ValidationError("the last one is where it goes, a URL; \(Self.getWords) a file here")
        }
        if sources.count > 1 {
            guard to.hasSuffix("/") || uploadProtocol?.value.givesNames == true else {
                throw ValidationError("several sources need a destination that ends in /")
            }
            if checksum != nil { throw ValidationError("--checksum goes with one URL") }
            if !mirror.isEmpty { throw ValidationError("--mirror goes with one URL") }
        }
        for url in sources + mirror.map(URLArgument.completed) + [to] {
            let plain = try LoginArguments.withoutUser(url).url
            guard JobSpec.isSupported(url: plain) else { throw ValidationError(JobSpec.refusal(of: plain)) }
        }
    }

    private static let getWords = "transfer get makes"

    func run() async throws {
        try request.fields.checkFiles()
        var work = OneOff(
            verb: "copy", folder: FileManager.default.currentDirectoryPath, limits: limits, output: show,
            state: state.state)
        work.configuration = try request.configuration.load()
        var rules = try request.rulesOfFiles(isAsking: !dryRun)
        try s3.lay(over: &rules)
        rules.configuration = work.configuration
        let text = try sources.map(job).joined(separator: "\n")
        let source = try JobFileSource("copy.jsonl", rules: rules, contents: Array(text.utf8))
        var jobs: [JobSpec] = []
        let report = try source.read(directory: work.folder, watch: { _, _ in }) { spec, _ in jobs.append(spec) }
        guard report.isEmpty else {
            throw Failure(.wrongUsage, report.faults.map(\.message).joined(separator: "; "))
        }
        work.jobs = jobs
        if dryRun { return try work.printPlan() }
        ExitStatus.exit(try await work.run())
    }

    /// Returns a source's job in the form of a job file.
    private func job(_ named: String) throws -> String {
        let (url, user) = try LoginArguments.withoutUser(named)
        let (to, owner) = try LoginArguments.withoutUser(urls[urls.count - 1])
        let mirrors = try mirror.map { try LoginArguments.withoutUser(URLArgument.completed($0)).url }
        var members: [String] = []
        let add = { (key: String, value: JSONText?) in
            if let value { members.append("\(JSONText.string(key).text): \(value.text)") }
        }
        add("download", .array(([url] + mirrors).map(JSONText.string)))
        add("to", .string(to))
        add("checksum", checksum.map { .string($0.checksum.description) })
        add("protocol", uploadProtocol.map { .string($0.value.rawValue) })
        add("chunkSize", chunkSize.map { .number(Int($0.bytes)) })
        add("createFolders", createFolders ? .true : nil)
        if let user { try add("ssh", Self.login(user, url)) }
        if let destination {
            guard owner == nil else {
                throw ValidationError("the destination's user stands in its URL or in --destination, not in both")
            }
            members.append("\"destination\": \(destination)")
        } else if let owner {
            add("destination", .object(["ssh": try Self.login(owner, to)]))
        }
        return "{\(members.joined(separator: ", "))}"
    }

    /// Returns the login of the user in a URL: only SSH's servers can do without a password.
    private static func login(_ user: String, _ url: String) throws -> JSONText {
        guard Origin(fileServerURL: url)?.scheme == "sftp" else {
            throw ValidationError(
                "\(Redaction.url(url)) cannot name the user; --user is the source's, and the destination's stands in "
                    + "--destination '{\"auth\": {\"user\": …, \"password\": {\"env\": …}}}'")
        }
        return .object(["user": .string(user)])
    }
}
