internal import Foundation

/// A call of the `transfer` command that was built with the tests.
///
///     let result = try await TransferCommand(["run", "jobs.json"], in: folder).run()
///     #expect(result.exitCode == 0, "\(result)")
public struct TransferCommand: Sendable {
    public var arguments: [String]
    public var workingFolder: String
    /// The whole environment of the command. Initially it has no proxy, no home, UTF-8, a dumb terminal, and `state` in
    /// the working folder as its state folder. A test therefore neither depends on the machine nor changes it.
    public var environment: [String: String]
    public var standardInput = ChildProcess.StandardInput.none
    public var timeout = Duration.seconds(60)
    public var measuresMemory = false
    /// The namespace in which the command runs; that of the test if `nil`.
    public var namespace: TestNamespace?

    public init(_ arguments: [String], in workingFolder: String) {
        self.arguments = arguments
        self.workingFolder = workingFolder
        environment = [
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": workingFolder + "/home",
            "TRANSFER_STATE": workingFolder + "/state",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TZ": "UTC",
            // The metadata service of a machine in a cloud is no part of a test.
            "AWS_EC2_METADATA_DISABLED": "true",
        ]
        let inherited = ProcessInfo.processInfo.environment
        for name in ["TMPDIR", "LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE"] {
            environment[name] = inherited[name]
        }
    }

    public init(_ arguments: [String], in folder: TemporaryFolder) {
        self.init(arguments, in: folder.path)
    }

    /// Runs the command to its end. An exit status other than 0 is no error here.
    public func run() async throws -> ProcessResult {
        try await start().result()
    }

    /// Starts the command, to follow its output or to send signals to it.
    public func start() throws -> ChildProcess {
        var command = ChildProcess.Command(
            try Self.binary(), arguments, environment: environment, workingFolder: workingFolder, timeout: timeout)
        command.standardInput = standardInput
        command.measuresMemory = measuresMemory
        if let namespace { command = try namespace.command(command) }
        return try ChildProcess.start(command)
    }

    /// Returns the path of the binary: `TRANSFER_BINARY`, or the one beside the test bundle.
    public static func binary() throws -> String { try builtProduct("transfer", variable: "TRANSFER_BINARY") }

    /// Returns the path of another executable of the package, for example an example.
    ///
    /// - Parameter variable: An environment variable that names the executable if it is in another place.
    public static func builtProduct(_ name: String, variable: String? = nil) throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let variable, let path = environment[variable], !path.isEmpty {
            guard FileManager.default.isExecutableFile(atPath: path) else {
                throw TestSupportError("\(variable) names \(path), which cannot be run")
            }
            return path
        }
        // The test bundle is an executable in the build folder, or the runner's argument is.
        let starting = ["/proc/self/exe"] + CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
        var tried: [String] = []
        for start in starting {
            let bundle = URL(fileURLWithPath: start).resolvingSymlinksInPath()
            let candidate = bundle.deletingLastPathComponent().appendingPathComponent(name).path
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
            tried.append(candidate)
        }
        throw TestSupportError("\(name) is not built; looked for \(tried.joined(separator: ", "))")
    }
}

extension TransferCommand {
    /// Whether the long tests were requested: `TRANSFER_HEAVY=1`, which `make check` sets.
    ///
    ///     @Test(.enabled(if: TransferCommand.runsHeavyTests))
    public static var runsHeavyTests: Bool {
        ProcessInfo.processInfo.environment["TRANSFER_HEAVY"] == "1"
    }
}
