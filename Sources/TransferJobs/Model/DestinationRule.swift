import Glibc
package import TransferCore

/// The rule for a file that already has a download's name.
///
/// A file is kept only with a proof: a matching digest of its bytes, or a server that confirms the version that our own
/// record states. The time and size of a file prove nothing where another program wrote it.
package enum DestinationRule {
    /// The known origin of the file, and whether the file is unchanged since then.
    package enum Standing: Sendable, Hashable, CaseIterable {
        /// The job's record describes the file: its size and time are unchanged.
        case recorded
        /// The file carries our note that it came from this URL, and nothing has changed since it got its name.
        case noted
        /// The file carries that note and has the recorded size and time. Its name, its mode or, with the time reset,
        /// its content was changed since.
        case touched
        /// The file was written by another program, or changed since.
        case foreign
    }

    /// The result of comparing the file's bytes with the job's checksum.
    package enum DigestVerdict: Sendable, Hashable, CaseIterable {
        case none, right, wrong
    }

    /// The reason for checking a completed job again.
    package enum Recheck: Int, Sendable, Hashable, CaseIterable {
        case no = 0
        /// The server decides whether the file is current (`--refresh`).
        case ask = 1
        /// Only its bytes decide whether the file is intact (`--verify`).
        case fetch = 2
        /// The file is known to be damaged and must be replaced (`verify --repair`).
        case repair = 3
    }

    package enum Answer: Sendable, Hashable {
        /// The file is complete, as its digest proves.
        case keep
        /// The file is left unchanged, whatever it is, because the user asked for that. Nothing is recorded about it.
        case leave
        /// The file is complete if the server answers 304 to the recorded validators.
        case ask
        /// The whole file is fetched and replaces the existing one, unless that changes meanwhile.
        case fetch
        /// The whole file is fetched. If its bytes differ, the existing file stays and the job fails.
        case compare
        /// The file counts as the beginning of the download, and is not changed until the whole file proves that.
        case adopt
        /// The whole file is fetched and replaces whatever has the name.
        case overwrite
        case rename
        case refuse(Refusal)
    }

    package enum Refusal: Sendable, Hashable {
        /// The job's `ifExists` is `fail`.
        case exists
        case unknown
        case changed
        case otherDigest
    }

    package struct Question: Sendable, Hashable {
        package var word: JobSpec.IfExists
        package var standing: Standing
        package var digest = DigestVerdict.none
        package var recheck = Recheck.no
        /// Whether the job has written this name before.
        package var hasRecord = false
        /// Whether a process may have completed the file and died before it recorded that: it died during the job, and
        /// no partial file is left.
        package var mayBeUnrecorded = false
        /// Whether a process died during the job. It may have completed the file, and a later one may have died while
        /// it fetched bytes for the comparison. A partial file proves nothing in that case.
        package var mayCompare = false
        /// Whether a partial file of another tool exists and may be continued.
        package var mayBegin = false

        package init(
            word: JobSpec.IfExists, standing: Standing, digest: DigestVerdict = DigestVerdict.none,
            recheck: Recheck = Recheck.no, hasRecord: Bool = false, mayBeUnrecorded: Bool = false,
            mayCompare: Bool = false, mayBegin: Bool = false
        ) {
            self.word = word
            self.standing = standing
            self.digest = digest
            self.recheck = recheck
            self.hasRecord = hasRecord
            self.mayBeUnrecorded = mayBeUnrecorded
            self.mayCompare = mayCompare
            self.mayBegin = mayBegin
        }
    }

    /// Returns whether the file must be read, where the job has a digest.
    package static func needsDigest(_ question: Question) -> Bool {
        if question.recheck == .repair { return false }
        if question.standing == .recorded, question.recheck != .no { return false }
        return switch question.word {
        case .verify, .update: true
        case .rename, .fail: question.mayBeUnrecorded && isNoted(question.standing)
        case .overwrite, .skip: false
        }
    }

    package static func answer(_ question: Question) -> Answer {
        if question.recheck == .repair { return .fetch }
        if question.standing == .recorded {
            switch question.recheck {
            case .ask: return .ask
            case .fetch, .repair: return .fetch
            case .no: break
            }
        }
        return switch question.word {
        case .overwrite: .overwrite
        case .skip: .leave
        case .rename, .fail: ofNewName(question)
        case .update: ofUpdate(question)
        case .verify: ofVerify(question)
        }
    }

    private static func ofNewName(_ question: Question) -> Answer {
        if question.standing == .recorded, question.word == .rename { return .fetch }
        if question.mayBeUnrecorded, isNoted(question.standing) { return ofNoted(question) }
        return question.word == .rename ? .rename : .refuse(.exists)
    }

    private static func ofUpdate(_ question: Question) -> Answer {
        switch (question.digest, question.standing) {
        case (.right, _): .keep
        case (.none, .recorded), (.none, .noted): .ask
        // A server can confirm only the version that it sent, not bytes that may differ from it.
        case (.none, .touched), (.none, .foreign), (.wrong, _): .fetch
        }
    }

    private static func ofVerify(_ question: Question) -> Answer {
        if question.digest == .right { return .keep }
        switch question.standing {
        // The job has changed since the record was made.
        case .recorded: return .fetch
        case .noted, .touched: return ofNoted(question)
        case .foreign: break
        }
        if question.mayBegin, !question.hasRecord { return .adopt }
        if question.digest == .wrong { return .refuse(.otherDigest) }
        if question.mayCompare { return .compare }
        return .refuse(question.hasRecord ? .changed : .unknown)
    }

    private static func ofNoted(_ question: Question) -> Answer {
        switch question.digest {
        case .right: .keep
        case .wrong: .fetch
        case .none: .ask
        }
    }

    private static func isNoted(_ standing: Standing) -> Bool { standing == .noted || standing == .touched }
}

extension DestinationRule.Refusal {
    /// Returns the error. Its advice starts with the choices that lose nothing and that prove something.
    package func error(_ path: String, _ checksum: Checksum?) -> TransferError {
        let words =
            switch self {
            case .exists: "exists; remove it or write \"ifExists\": \"overwrite\"\(CommandPhrases.also("--if-exists"))"
            case .unknown:
                "exists and is not known; write its \"checksum\", by which a whole file is kept and the beginning"
                    + " of one is continued, or \"ifExists\": \"rename\", \"skip\", \"overwrite\" or \"update\""
                    + CommandPhrases.also("--if-exists")
            case .changed: "was changed since it was fetched; \(Self.words)"
            case .otherDigest: "exists and has another \(checksum?.algorithm.rawValue ?? "digest"); \(Self.words)"
            }
        return TransferError(.fileExists, "\(path) \(words)", cause: .os(errno: EEXIST))
    }

    private static let words =
        "write \"ifExists\": \"rename\", \"skip\", \"overwrite\" or \"update\"\(CommandPhrases.also("--if-exists"))"
}
