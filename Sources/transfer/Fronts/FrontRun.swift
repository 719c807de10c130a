import ArgumentParser
import FoundationEssentials
import Glibc
import TransferCore
import TransferQueue

/// The run of another tool's command line: its transfers are the jobs of one batch, as with `transfer get`.
struct FrontRun {
    let tool: FrontTool
    let words: [String]

    func run() async throws {
        if words == ["--help"] || words == ["-h"] { throw CleanExit.helpRequest(command) }
        let line: FrontLine
        do {
            line = try tool.read(words)
        } catch let refusal as FrontRefusal {
            throw refusal.failure
        }
        try redirectMessages(line)
        report(line)
        let work = try work(line)
        if line.asksForAnswers {
            let requests = zip(line.transfers, work.jobs).compactMap { transfer, spec in
                transfer.answer.map { FrontAnswers.Request(transfer: transfer, answer: $0, spec: spec) }
            }
            var answers = FrontAnswers(requests, countsAll: tool != .curl)
            answers.hidesErrors = line.hidesErrors
            let succeeded: Bool
            do {
                defer { work.cookies?.remove() }
                succeeded = try await answers.run()
            }
            ExitStatus.exit(succeeded && line.leftOut.isEmpty ? .complete : .someFailed)
        }
        let status = work.jobs.isEmpty ? .complete : try await work.run()
        for (transfer, job) in zip(line.transfers, work.jobs) {
            guard case .download(.folder(_, .last)) = transfer.kind,
                let receipt = work.receipts.receipt(of: job.identity)
            else { continue }
            let name = LastName(
                path: receipt.path, urls: transfer.urls, finalURL: receipt.finalURL,
                replaces: transfer.draft.string(["ifExists"]) == "overwrite", numbersBeforeExtension: tool == .aria2)
            if let reason = name.apply() { throw Failure(.someFailed, reason) }
        }
        ExitStatus.exit(status == .complete && !line.leftOut.isEmpty ? .someFailed : status)
    }

    /// Lets the messages go to the file that a line names.
    private func redirectMessages(_ line: FrontLine) throws(Failure) {
        guard let path = line.messages else { return }
        let file = path == "-" ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard file >= 0, dup2(file, STDERR_FILENO) >= 0 else {
            throw Failure(.stateUnusable, "cannot write \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
        }
        if file > STDERR_FILENO { close(file) }
    }

    /// Reports the words of a line that are left out, or have no effect.
    private func report(_ line: FrontLine) {
        for fault in line.leftOut { StandardError.write("transfer: \(fault.text(of: tool))\n") }
        if !line.isQuiet { for warning in line.warnings { StandardError.write("transfer: \(warning)\n") } }
    }

    private var command: any ParsableCommand.Type {
        switch tool {
        case .curl: CurlCommand.self
        case .wget: WgetCommand.self
        case .aria2: Aria2Command.self
        }
    }

    private func work(_ line: FrontLine) throws -> OneOff {
        var limits = ["-j", "\(line.concurrency)"]
        if let rate = line.limitRate { limits += ["--limit-rate", rate] }
        let talk = (line.isQuiet ? ["--quiet"] : []) + (line.isVerbose && !line.isQuiet ? ["--verbose"] : [])
        let onlyUploads = line.transfers.allSatisfy { if case .download = $0.kind { false } else { true } }
        var work = OneOff(
            verb: onlyUploads ? "put" : "get", folder: FileManager.default.currentDirectoryPath,
            limits: try LimitOptions.parse(limits), output: try OutputOptions.parse(talk), state: nil)
        work.configuration = try ConfigurationOptions.parse([]).load()
        work.isFront = true
        var rules = try RequestOptions.none().rules()
        rules.configuration = work.configuration
        var decoder = JobDecoder(
            JSONReader(UnsafeBufferPointer(start: nil, count: 0)), rules: rules, sums: .none)
        // The queue stores no secret of the line.
        decoder.takesSecrets = true
        var faults: [FrontFault] = []
        for (number, transfer) in line.transfers.enumerated() {
            let draft = try self.draft(of: transfer, number, &work)
            let read = decoder.job(of: draft)
            for fault in read.faults {
                let word = fault.span.column - 1
                let shown = words.indices.contains(word) ? words[word] : ""
                faults.append(FrontFault(shown: shown.contains("@") ? "" : shown, reason: fault.message))
            }
            if let spec = read.spec { work.jobs.append(Self.finished(spec, transfer, number)) }
        }
        guard faults.isEmpty else { throw FrontRefusal(tool: tool, words: words, faults: faults).failure }
        return work
    }

    /// Returns the members of a transfer's job; its spools are added to the work.
    private func draft(of transfer: FrontTransfer, _ number: Int, _ work: inout OneOff) throws -> ListDraft {
        var draft = transfer.draft
        let place = draft.place
        let url = transfer.urls[0]
        if draft.string(["cookies"]) == "-" { try keepCookies(of: &draft, &work) }
        switch transfer.kind {
        case .form: draft.set(["to"], .string(url), at: place)
        case .upload(let source):
            draft.set(["to"], .string(url), at: place)
            switch source {
            case .file(let path): draft.set(["upload"], .string(path), at: place)
            case .standardInput:
                let spool = try StreamSpool(.input, of: url, state: nil)
                try spool.fill()
                work.spools.append(spool)
                work.again = [url]
                draft.set(["upload"], .string(spool.path), at: place)
            }
        case .download(let output):
            draft.set(["download"], .strings(transfer.urls), at: place)
            var path: String
            switch output {
            // A request at once has no file of a job's; its output opens its own.
            case _ where transfer.answer != nil: path = "answer-\(number)"
            case .file(let file): path = file
            case .folder(let folder, _): path = folder.isEmpty ? "./" : folder.hasSuffix("/") ? folder : folder + "/"
            case .standardOutput, .discarded, .stream:
                let body = draft.string(["body"]) ?? ""
                let target: String? = if case .stream(let file) = output { file } else { nil }
                let spool = try StreamSpool(.output, of: "\(url)\n\(number)\n\(body)", state: nil, to: target)
                if output == .discarded { work.discarded.append(spool) } else { work.results.append(spool) }
                path = spool.path
                draft.remove(["adopt"])
                draft.set(["ifExists"], .string("overwrite"), at: place)
            }
            if path.hasPrefix("~/") { path = "./" + path }
            draft.set(["to"], .string(DestinationNames.escaped(path)), at: place)
        }
        return draft
    }

    /// Sets the file of the cookies that standard input brings; it is read once for all transfers.
    private func keepCookies(of draft: inout ListDraft, _ work: inout OneOff) throws {
        if work.cookies == nil {
            let spool = try StreamSpool(.input, of: "cookies \(getpid())", state: nil)
            try spool.fill()
            work.cookies = spool
            work.discarded.append(spool)
        }
        draft.set(["cookies"], .string(work.cookies?.path ?? ""), at: draft.place)
    }

    /// Adds to a job what a job file cannot say.
    private static func finished(_ spec: JobSpec, _ transfer: FrontTransfer, _ number: Int) -> JobSpec {
        var spec = spec
        spec.settings.http.front = transfer.rules
        if transfer.isStreamed {
            // The spool's path would say nothing to the reader of a message.
            let name = FrontURL(transfer.urls[0]).lastSegment
            spec.id = (name.isEmpty ? "answer" : name) + (number == 0 ? "" : " #\(number + 1)")
        }
        if !transfer.retriedStatuses.isEmpty {
            // A set of its own would replace the statuses that are tried again by default.
            let others = (400...599).filter { StatusRule.mayPass($0, asksToWait: false) }
            spec.settings.retry.statusCodes = transfer.retriedStatuses.union(others)
        }
        if transfer.retriesAllErrors { spec.settings.retry.statusCodes = Set(400...599) }
        if case .download(.folder(_, .given(let name))) = transfer.kind, case .download(var download) = spec.work {
            download.defaultName = name
            spec.work = .download(download)
        }
        return spec
    }
}
