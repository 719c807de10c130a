import ArgumentParser
import FoundationEssentials
import Glibc
import TransferCore
import TransferQueue

struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Download URLs, each to a file of its own.")

    @Argument(help: ArgumentHelp("What to download.", valueName: "url"))
    var urls: [String]

    @Option(name: .shortAndLong, help: ArgumentHelp("The folder to put the files into.", valueName: "dir"))
    var directory: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write, for one URL.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("What one URL's file must hash to, as sha256:HEX.", valueName: "sum"))
    var checksum: ChecksumArgument?

    @Option(
        name: .customLong("if-exists"), help: "When the file is there: verify, update, overwrite, skip, rename, fail.")
    var ifExists: IfExistsArgument?

    @Flag(help: ArgumentHelp(StrictArgument.help))
    var strict = false

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("A field to send.", valueName: "name: value"))
    var headers: [String] = []

    @OptionGroup var s3: S3Arguments
    @OptionGroup var login: LoginArguments
    @OptionGroup var limits: LimitOptions
    @OptionGroup var show: OutputOptions
    @OptionGroup var state: StateOptions

    mutating func validate() throws {
        _ = try HeaderArgument.settings(headers)
        if urls.isEmpty { throw ValidationError("name a URL") }
        if urls.count > 1, output != nil || checksum != nil {
            throw ValidationError("--output and --checksum go with one URL")
        }
        for named in urls {
            let (url, _) = try login.settings(of: named)
            guard JobSpec.isSupported(url: url) else { throw ValidationError(JobSpec.refusal(of: url)) }
        }
    }

    func run() async throws {
        let fields = try HeaderArgument.settings(headers)
        let jobs = try urls.map { named in
            var (url, settings) = try login.settings(of: named)
            settings.headers = fields
            settings.s3 = s3.access
            return JobSpec(
                work: .download(
                    JobSpec.Download(
                        urls: [url], destination: output ?? "./", checksum: checksum?.checksum,
                        ifExists: ifExists?.value ?? .verify, strict: strict)),
                settings: settings)
        }
        let folder = Composition.absolute(directory ?? FileManager.default.currentDirectoryPath)
        ExitStatus.exit(
            try await OneOff(jobs: jobs, verb: "get", folder: folder, limits: limits, output: show, state: state.state)
                .run())
    }
}

struct Put: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Upload files; a URL that ends in / gets the file's name.",
        discussion: """
            What was broken off goes on where it was, as far as the protocol lets it: run the same command again.
            """)

    @Argument(help: ArgumentHelp("Files, then the URL.", valueName: "file… url"))
    var arguments: [String]

    @OptionGroup var upload: UploadOptions
    @OptionGroup var limits: LimitOptions
    @OptionGroup var show: OutputOptions
    @OptionGroup var state: StateOptions

    mutating func validate() throws {
        guard arguments.count >= 2, let url = arguments.last else { throw ValidationError("name files and then a URL") }
        let made = try upload.upload(to: url).upload
        if arguments.count > 2, !url.hasSuffix("/"), made.uploadProtocol != .tus {
            throw ValidationError("several files need a URL that ends in /")
        }
        for file in arguments.dropLast() {
            var status = stat()
            guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { continue }
            throw ValidationError(
                "\(file) is a folder; name files, or have `transfer watch --recursive` upload what is in it")
        }
    }

    func run() async throws {
        let (made, settings) = try upload.upload(to: arguments[arguments.count - 1])
        let jobs = arguments.dropLast().map { file in
            var upload = made
            upload.source = Composition.absolute(file)
            let name = file.split(separator: "/").last.map(String.init) ?? file
            if upload.url.hasSuffix("/"), !upload.uploadProtocol.givesNames {
                upload.url += PercentEncoding.encode(name)
            }
            return JobSpec(work: .upload(upload), settings: settings)
        }
        let folder = FileManager.default.currentDirectoryPath
        ExitStatus.exit(
            try await OneOff(
                jobs: Array(jobs), verb: "put", folder: folder, limits: limits, output: show, state: state.state
            ).run())
    }
}

/// Jobs from a command line, in a batch that is forgotten when all of it went well.
struct OneOff {
    let jobs: [JobSpec]
    let verb: String
    let folder: String
    let limits: LimitOptions
    let output: OutputOptions
    let state: String?

    private var firstURL: String {
        switch jobs[0].work {
        case .download(let download): download.urls[0]
        case .upload(let upload): upload.url
        }
    }

    func run() async throws -> ExitStatus {
        // The same command again is the same batch: it goes on where it was.
        let more = jobs.count > 1 ? " +\(jobs.count - 1)" : ""
        let name = "\(verb) \(Redaction.url(firstURL))\(more) in \(folder)"
        let queue = try await Composition.queue(state: state, limits: limits.merged(with: BatchLimits()))
        let batch: StagedBatch
        do {
            batch = try await queue.stage(name: name, source: nil, directory: folder) { [jobs] take in
                for job in jobs { try take(job, nil) }
                return true
            }
        } catch StagingError.held(_, let pid) {
            throw Failure(.workLeft, "the same is being done by process \(pid)")
        } catch StagingError.faults(let report) {
            throw Failure(.wrongUsage, report.faults.map(\.message).joined(separator: "; "))
        }
        let execution = Execution(
            queue: queue, reporter: try Composition.reporter(output), stops: Execution.StopRules(),
            hint: CommandHint(state: state))
        var options = RunOptions()
        options.marksFiles = true
        let status = try await execution.run([batch], options)
        if status == .complete { _ = try? Composition.remote(state: state).forget(name: name, endedBefore: nil) }
        return status
    }
}

enum StrictArgument {
    static let help =
        "Fail what nothing proves to be whole: no checksum, and a length that only the connection's end tells."
}

struct ChecksumArgument: ExpressibleByArgument {
    let checksum: Checksum
    init?(argument: String) {
        guard let checksum = Checksum(argument) else { return nil }
        self.checksum = checksum
    }
}

struct IfExistsArgument: ExpressibleByArgument {
    let value: JobSpec.IfExists
    init?(argument: String) {
        guard let value = JobSpec.IfExists(rawValue: argument) else { return nil }
        self.value = value
    }
}

/// `Name: value`; `$NAME` and `@file` name a value instead of writing it.
enum HeaderArgument {
    /// - Throws: `ValidationError`, which never repeats the value.
    static func settings(_ arguments: [String]) throws -> [JobSettings.HeaderSetting] {
        try arguments.map { argument in
            guard let colon = argument.firstIndex(of: ":"), colon > argument.startIndex else {
                throw ValidationError("--header takes \"Name: value\"")
            }
            let name = String(argument[..<colon])
            let text = argument[argument.index(after: colon)...].drop { $0 == " " }
            guard argument.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), !name.contains(" ") else {
                throw ValidationError("the header \(name.debugDescription) has characters that no header may have")
            }
            if let message = HeaderRule.refusal(ofName: name) { throw ValidationError("--header: \(message)") }
            let value: SecretText =
                text.hasPrefix("$")
                ? .environment(String(text.dropFirst()))
                : text.hasPrefix("@") ? .file(String(text.dropFirst())) : .literal(String(text))
            if case .literal = value, Redaction.isSecretHeader(name) {
                // Every user of the machine sees the command line.
                throw ValidationError(
                    "the value of \(name) is a secret: write '\(name): $VARIABLE' or '\(name): @FILE'")
            }
            return JobSettings.HeaderSetting(name: name, value: value)
        }
    }
}
