import ArgumentParser
import FoundationEssentials
import Glibc
import TransferCore
import TransferQueue
import TransferWatch

struct Put: AsyncParsableCommand, RequestCommand {
    static let configuration = CommandConfiguration(
        abstract: "Upload files and folders; a URL that ends in / gets the file's name.",
        discussion: """
            A folder is uploaded with all that is in it, under its own name. With a / at the end of the folder, its \
            files are uploaded without that name. Files and folders that cannot be read are reported, the rest is \
            sent, and the exit status is 1. Standard input is -, and is kept until it has arrived.

            The same command again continues an interrupted upload, where the protocol allows it.
            """)

    @Argument(
        help: ArgumentHelp("The files and folders, or -; then the URL.", valueName: "file… url"), completion: .file())
    var arguments: [String]

    @Option(
        help: ArgumentHelp(
            "In folders, take only files that match this pattern, or another --include.", valueName: "glob"),
        transform: GlobArgument.read)
    var include: [GlobArgument] = []

    @Option(
        help: ArgumentHelp("In folders, leave out files and sub-folders that match this pattern.", valueName: "glob"),
        transform: GlobArgument.read)
    var exclude: [GlobArgument] = []

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Print what would be sent; send nothing.")
    var dryRun = false

    @OptionGroup(title: "Uploads") var upload: UploadOptions
    @OptionGroup(title: "Requests") var fields: FieldOptions
    @OptionGroup(title: "Logins, proxies and TLS") var login: LoginArguments
    @OptionGroup(title: "Logins, proxies and TLS") var proxy: ProxyOptions
    @OptionGroup(title: "Logins, proxies and TLS") var trust: TrustOptions
    @OptionGroup(title: "The queue") var configuration: ConfigurationOptions
    @OptionGroup(title: "Attempts and limits") var attempts: AttemptOptions
    @OptionGroup(title: "Attempts and limits") var limits: LimitOptions
    @OptionGroup(title: "Output") var show: OutputOptions
    @OptionGroup(title: "The queue") var place: OneOffPlaceOptions

    private var sources: ArraySlice<String> { arguments.dropLast() }

    func validate() throws {
        _ = try request.rules()
        guard arguments.count >= 2, let url = arguments.last else { throw ValidationError("name files and then a URL") }
        let made = try upload.upload(to: url, by: request).upload
        let givesNames = made.uploadProtocol.givesNames
        let isFolder = url.hasSuffix("/") && !givesNames
        if isFolder, let refusal = JobSpec.refusal(ofFolder: url) { throw ValidationError(refusal) }
        if sources.count > 1, !isFolder, !givesNames {
            throw ValidationError("several files need a URL that ends in /")
        }
        if place.address != nil {
            try FleetOneOff.check(limits, show, standardInput: sources.contains("-"))
            if let folder = sources.first(where: { $0.hasSuffix("/") }) {
                throw ValidationError(
                    "\(folder): with --queue postgres://… files are those of workers, whose folders are not read")
            }
            return
        }
        if sources.count(where: { $0 == "-" }) > 1 { throw ValidationError("standard input is one file") }
        for source in sources {
            if source == "-" {
                guard isFolder else { continue }
                throw ValidationError("standard input has no name: the URL has to end in one")
            }
            if !isFolder, !givesNames, SentFolder.isFolder(source) {
                throw ValidationError("\(source) is a folder, which needs a URL that ends in /")
            }
        }
    }

    func run() async throws {
        try request.fields.checkFiles()
        let to = arguments[arguments.count - 1]
        let configuration = try request.configuration.load()
        let typed = dryRun ? nil : try request.login.askedPasswords(for: [to])
        let made = try upload.upload(to: to, by: request, configuration, typed: typed)
        let plain = configuration.isEmpty ? nil : try upload.upload(to: to, by: request, typed: typed)
        let folder = place.address == nil ? FileManager.default.currentDirectoryPath : ""
        var work = OneOff(verb: "put", folder: folder, limits: limits, output: show, state: place.state)
        work.fleet = place.fleet
        work.configuration = configuration
        let job = { (path: String, name: String) -> JobSpec in
            var spec = Self.job(made, path, name: name)
            spec.lasting = plain.map { Self.job($0, path, name: name).spelt.fingerprint }
            return spec
        }
        let rules = WatchRules(
            include: include.map(\.pattern), exclude: exclude.map(\.pattern), isRecursive: true,
            leavesUnfinished: false)
        var hasUnreadable = false
        for source in sources {
            if work.fleet != nil {
                // The path begins in the folder of the worker.
                work.jobs.append(job(source, Self.lastName(source)))
            } else if source == "-" || StreamSpool.isPipe(source) {
                let pipe = source == "-" ? nil : source
                if dryRun {
                    print("  send  \(pipe ?? "standard input") -> \(Redaction.url(to))")
                    continue
                }
                let spool = try StreamSpool(.input, of: pipe.map { "\(to)\n\($0)" } ?? to, state: place.state)
                try spool.fill(fromPipe: pipe)
                work.jobs.append(job(spool.path, pipe.map(Self.lastName) ?? ""))
                work.spools.append(spool)
                work.again = [to] + upload.words + request.words
            } else if SentFolder.isFolder(source) {
                let contents = try SentFolder(source, rules: rules).contents()
                Self.tell(contents, of: source)
                hasUnreadable = hasUnreadable || !contents.unreadable.isEmpty
                for file in contents.files { work.jobs.append(job(file.path, file.name)) }
            } else {
                work.jobs.append(job(Composition.absolute(source), Self.lastName(source)))
            }
        }
        if work.jobs.isEmpty {
            if hasUnreadable { ExitStatus.exit(.someFailed) }
            throw Failure(.someFailed, "there is nothing to send")
        }
        if dryRun { try work.printPlan() }
        let status = dryRun ? .complete : try await work.run()
        ExitStatus.exit(status == .complete && hasUnreadable ? .someFailed : status)
    }

    private static func lastName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Reports the entries of a folder that are not sent, with the reasons.
    private static func tell(_ contents: SentFolder.Contents, of source: String) {
        for (path, reason) in contents.unreadable { StandardError.write("transfer: cannot send \(path): \(reason)\n") }
        for (path, reason) in contents.leftOut { StandardError.write("transfer: left out \(path): \(reason)\n") }
        guard contents.files.isEmpty, contents.unreadable.isEmpty else { return }
        StandardError.write("transfer: \(source): no files in it that are to be sent\n")
    }

    /// Makes the job of a file.
    ///
    /// - Parameter name: The name that is appended to a folder's URL; with slashes for files in a folder.
    private static func job(
        _ made: (upload: JobSpec.Upload, settings: JobSettings), _ path: String, name: String
    ) -> JobSpec {
        var upload = made.upload
        upload.source = path
        if upload.url.hasSuffix("/"), !upload.uploadProtocol.givesNames {
            upload.url += name.split(separator: "/").map { PercentEncoding.encode($0) }.joined(separator: "/")
        }
        return JobSpec(work: .upload(upload), settings: made.settings)
    }
}
