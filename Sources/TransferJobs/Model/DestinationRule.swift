import Glibc
package import TransferCore

/// The rule for a file that has a download's name already.
///
/// "Kept" is a proof: of the bytes by their digest, or by a server that confirms the version that our own record says
/// they are of. A file's time and size prove nothing of a file that somebody else wrote.
package enum DestinationRule {
    /// Who wrote the file, as far as that is known, and whether it still is as it was then.
    package enum Standing: Sendable, Hashable, CaseIterable {
        /// The job's record speaks of it: size and time are those that it had.
        case recorded
        /// With our note of having come from this URL, and nothing of it has changed since it got its name.
        case noted
        /// With that note, and the size and time that it had; its name, its mode or, with the time put back, its
        /// content was changed since.
        case touched
        /// Somebody else's, or changed since.
        case foreign
    }

    /// The word of the job's checksum on the file's bytes.
    package enum DigestVerdict: Sendable, Hashable, CaseIterable {
        case none, right, wrong
    }

    /// Why a job that was complete is looked at again.
    package enum Recheck: Int, Sendable, Hashable, CaseIterable {
        case no = 0
        /// The server tells whether it's the newest (`--refresh`).
        case ask = 1
        /// Nothing but its bytes tells whether it's unharmed (`--verify`).
        case fetch = 2
        /// It's known to be damaged, and somebody wants it whole (`verify --repair`).
        case repair = 3
    }

    package enum Answer: Sendable, Hashable {
        /// Complete, as its digest says.
        case keep
        /// Left as it is, whatever it is: the user said so. Nothing is recorded of it.
        case leave
        /// A 304 to the validators that are recorded of it says that it's complete.
        case ask
        /// Fetched whole; the file gives way as long as it is as it was.
        case fetch
        /// Fetched whole; if it has other bytes than the file, the file stays and the job fails.
        case compare
        /// Taken for the beginning of the file, and not touched before the whole proves that.
        case adopt
        /// Fetched whole; whatever has the name gives way.
        case overwrite
        case rename
        case refuse(Refusal)
    }

    package enum Refusal: Sendable, Hashable {
        /// `ifExists` is `fail`.
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
        /// Whether a process may have finished the file and died before it recorded that: it died with the job, and no
        /// partial file is left.
        package var mayBeUnrecorded = false
        /// Whether a process died with the job. It may have finished the file, and one after it may have died while it
        /// fetched the bytes to compare them: a partial file proves nothing then.
        package var mayCompare = false
        /// Whether bytes of another tool's may be gone on with, and there are some.
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

    /// Whether the file has to be read, where the job names a digest.
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
        // A server can only tell of the version that it gave, not of bytes that may be others.
        case (.none, .touched), (.none, .foreign), (.wrong, _): .fetch
        }
    }

    private static func ofVerify(_ question: Question) -> Answer {
        if question.digest == .right { return .keep }
        switch question.standing {
        // The job was another one then.
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
    /// Names first what loses nothing, and what proves something.
    package func error(_ path: String, _ checksum: Checksum?) -> TransferError {
        let words =
            switch self {
            case .exists: "exists; remove it or write \"ifExists\": \"overwrite\"\(CommandPhrases.also("--if-exists"))"
            case .unknown:
                "exists and isn't known; write its \"checksum\", by which a whole file is kept and the beginning"
                    + " of one is gone on with, or \"ifExists\": \"rename\", \"skip\", \"overwrite\" or \"update\""
                    + CommandPhrases.also("--if-exists")
            case .changed: "was changed since it was fetched; \(Self.words)"
            case .otherDigest: "exists and has another \(checksum?.algorithm.rawValue ?? "digest"); \(Self.words)"
            }
        return TransferError(.fileExists, "\(path) \(words)", cause: .os(errno: EEXIST))
    }

    private static let words =
        "write \"ifExists\": \"rename\", \"skip\", \"overwrite\" or \"update\"\(CommandPhrases.also("--if-exists"))"
}
