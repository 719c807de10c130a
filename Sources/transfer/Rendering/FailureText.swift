import TransferCore
import TransferQueue

/// The description of a failed job: as a line, and as the reason that many jobs may share.
enum FailureText {
    /// Returns a line such as `q3.pdf: 404 Not Found, not retried`.
    ///
    /// - Parameters:
    ///   - name: The job's name for the reader.
    ///   - persistence: Whether this process will retry the file of a watched folder.
    static func line(_ failure: JobFailure, name: String, persistence: RunPersistence = .watches) -> String {
        let message = "\(name): \(failure.error.message)"
        if let again = failure.again {
            switch persistence {
            case .watches:
                return message + ", tried again in \(DurationText.clock(again)) or when another file has arrived"
            case .isRemembered: return message + ", tried again by a later run"
            case .isForgotten: return message + ", not tried again (nothing is remembered)"
            }
        }
        // The message of a local fault contains advice.
        guard failure.host != nil else { return message }
        guard failure.error.isTransient else { return message + ", not retried" }
        return message + ", given up after \(NumberText.count(failure.attempts, "attempt"))"
    }

    /// Returns the common reason of failures: `404 Not Found`, `sha256 differs`, `permission denied`.
    ///
    /// The text is only for people: the queue decides by the error's code.
    static func reason(_ failure: JobFailure) -> String {
        let error = failure.error
        guard error.errno == nil else { return systemReason(error.message)?.reason ?? error.message }
        switch error.code {
        case .checksumMismatch:
            return error.message.firstIndex(of: ":").map { String(error.message[..<$0]) } ?? error.message
        case .fileExists: return "file exists"
        case .mayHaveBeenSent: return "may have been sent"
        case .secretMissing: return "secret missing"
        case .originUnreachable: return "host given up"
        default: return error.message
        }
    }

    /// Returns the file, where the system refused it; otherwise the job.
    static func name(_ failure: JobFailure) -> String {
        guard failure.error.errno != nil else { return failure.job }
        return systemReason(failure.error.message)?.path ?? failure.job
    }

    static func host(_ failure: JobFailure) -> String {
        if let host = failure.host { return host }
        let isFile = failure.error.errno != nil || filesCodes.contains(failure.error.code)
        return isFile ? "(disk)" : "(here)"
    }

    private static let filesCodes: Set<TransferError.Code> = [
        .fileExists, .fileMissing, .fileAccess, .fileLocked, .partNotOurs, .diskFull, .sourceChanged, .checksumMismatch,
    ]

    /// Splits a message such as `cannot write /srv/in/x.iso.part: permission denied`.
    private static func systemReason(_ message: String) -> (path: String?, reason: String)? {
        guard message.hasPrefix("cannot "),
            let colon = message.lastIndex(of: ":"), message[colon...].hasPrefix(": ")
        else { return nil }
        let words = message[message.index(message.startIndex, offsetBy: 6)..<colon]
        // The path is also found in "reserve 2 GiB for /srv/in/x.part".
        let slash = words.indices.first { words[$0] == "/" && words[..<$0].last == " " }
        let start = slash ?? words.firstIndex(of: " ").map { words.index(after: $0) }
        let path = start.map { String(words[$0...]) }
        return (path, String(message[message.index(colon, offsetBy: 2)...]))
    }
}
