import ArgumentParser
import FoundationEssentials
import Glibc
import TransferCore
import TransferQueue

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check downloaded files, and fetch again what of them is damaged.",
        discussion: """
            A file is judged by the first of these that there is: the job's digest, the digests of its pieces, the sums that were \
            made when it came, its server's word (Repr-Digest, or the ETag of an object of S3's). Exit status: 0 all are good; \
            1 one is damaged, or nothing could judge it; 66 one is missing, or was never downloaded.
            """)

    @Argument(help: ArgumentHelp("Files that were downloaded, or batches.", valueName: "file|batch"))
    var names: [String]

    @Flag(help: "Fetch what is damaged or missing; of a damaged file only the ranges that are.")
    var repair = false

    @Option(
        help: ArgumentHelp("What the one file must hash to, as sha256:HEX; no record is needed.", valueName: "sum"),
        transform: ChecksumArgument.read)
    var checksum: ChecksumArgument?

    @Flag(help: "JSON on standard output, a line for each file.")
    var json = false

    @Flag(name: .shortAndLong, help: "Say only what isn't good.")
    var quiet = false

    @OptionGroup var state: StateOptions

    func validate() throws {
        if names.isEmpty { throw ValidationError("name a file or a batch") }
        if checksum != nil, names.count > 1 { throw ValidationError("--checksum goes with one file") }
        if checksum != nil, repair { throw ValidationError("--repair needs a download's record, not --checksum") }
    }

    func run() async throws {
        if let checksum { return try compare(names[0], checksum.checksum) }
        let remote = try Composition.remote(existingState: state.state)
        let known = BatchNames(try remote?.batchRegister() ?? BatchRegister())
        var board = VerifyBoard(names: known, isJSON: json, isQuiet: quiet)
        var open: [FileCheck] = []
        var checked: [String: Set<String>] = [:]
        for name in names {
            if let batch = try known.find(name), let remote {
                checked[batch] = []
                try await remote.checkFiles(ofBatch: batch) { check in
                    checked[batch]?.insert(check.job)
                    if check.isUnknown { open.append(check) } else { board.add(check) }
                }
            } else {
                let check = try await record(of: name, remote)
                if check.isUnknown { open.append(check) } else { board.add(check) }
            }
        }
        let damaged = board.damaged
        guard !open.isEmpty || repair && !damaged.isEmpty else { return try finish(&board, remote, checked) }
        let queue = try await Composition.queue(state: state.state)
        for check in open { board.add(await queue.askServer(check)) }
        guard repair, !board.damaged.isEmpty else {
            await queue.close()
            return try finish(&board, remote, checked)
        }
        let checks = board.damaged
        let status = try await fetch(checks, queue)
        guard let remote, status != .workLeft else { ExitStatus.exit(status) }
        // What came is judged as it is on the disk now.
        board.repaired(checks.count)
        for check in checks { board.add(try await remote.checkFile(check.path) ?? check) }
        try finish(&board, remote, checked)
    }

    /// Tells also of the files that the batches should have and never had.
    ///
    /// - Parameter checked: The jobs that were told of, by their batches.
    private func finish(_ board: inout VerifyBoard, _ remote: QueueRemote?, _ checked: [String: Set<String>]) throws {
        for (batch, jobs) in checked.sorted(by: { $0.key < $1.key }) {
            var isKnown = !jobs.isEmpty
            try remote?.missingDownloads(ofBatch: batch, besides: jobs) {
                isKnown = true
                board.add($0, of: batch)
            }
            if !isKnown { board.foundNothing(of: batch) }
        }
        board.finish()
    }

    /// Fetches what is wrong with the files.
    private func fetch(_ checks: [FileCheck], _ queue: JobQueue) async throws -> ExitStatus {
        let output = try OutputOptions.parse(["--progress", json || quiet ? "none" : "auto"])
        let execution = Execution(
            queue: queue, reporter: try Composition.reporter(output), stops: Execution.StopRules(), hint: state.hint)
        var batches: [StagedBatch] = []
        var options = RunOptions()
        for (batch, files) in Dictionary(grouping: checks, by: \.batch).sorted(by: { $0.key < $1.key }) {
            do {
                let (staged, repairs) = try await queue.stageRepair(of: batch, files)
                batches.append(staged)
                options.add(repairs)
            } catch let error as TransferError {
                await queue.close()
                throw Failure(.workLeft, error.message)
            }
        }
        return try await execution.run(batches, options)
    }

    private func record(of name: String, _ remote: QueueRemote?) async throws -> FileCheck {
        let path = realpath(name, nil).map { pointer in
            defer { free(pointer) }
            return String(cString: pointer)
        }
        let absolute = Composition.absolute(name)
        for candidate in [path, absolute].compactMap({ $0 }) {
            if let check = try await remote?.checkFile(candidate) { return check }
        }
        guard path != nil else {
            throw Failure(.unreadableJobFile, "\(name): no such file, and no batch of that name")
        }
        throw Failure(
            .unreadableJobFile,
            "\(name): no record of a download of it (those of `transfer get` are forgotten when they are complete); "
                + "compare it with --checksum sha256:HEX, or download it by `transfer run`")
    }

    private func compare(_ name: String, _ checksum: Checksum) throws {
        do throws(TransferError) {
            let isRight = try FileProof.isRight(name, checksum)
            if json {
                print(VerifyBoard.line(path: name, state: isRight ? "good" : "bad", by: "digest"))
            } else if !isRight || !quiet {
                print("\(isRight ? "good" : "bad")  \(name)  \(checksum.algorithm.rawValue)")
            }
            if !isRight { ExitStatus.exit(.someFailed) }
        } catch {
            throw Failure(.unreadableJobFile, error.message)
        }
    }
}
