import TransferQueue

/// A tool whose command lines are taken.
enum FrontTool: String, Sendable, CaseIterable {
    case curl, wget
    case aria2 = "aria2c"

    /// Reads a command line of the tool.
    ///
    /// - Throws: `FrontRefusal` with every word that cannot be taken.
    func read(_ words: [String]) throws -> FrontLine {
        switch self {
        case .curl: try CurlFront.read(words)
        case .wget: try WgetFront.read(words)
        case .aria2: try Aria2Front.read(words)
        }
    }
}

/// The meaning of a command line: the transfers, and the options of the run.
struct FrontLine {
    var transfers: [FrontTransfer] = []
    /// The number of transfers at once.
    var concurrency = 1
    /// The bytes a second of all transfers together, as written.
    var limitRate: String?
    var isQuiet = false
    var isVerbose = false
    /// Whether the failure of a request at once has no message.
    var hidesErrors = false
    /// The words that are left out, as the tool leaves them out: the rest is done, and the line fails at the end.
    var leftOut: [FrontFault] = []
    /// The messages about words that have no effect here, as they have none with the tool.
    var warnings: [String] = []
    /// The file that gets the messages in place of standard error; `-` is standard output.
    var messages: String?

    /// Whether the transfers are requests at once, and no jobs.
    var asksForAnswers: Bool { transfers.contains { $0.answer != nil } }
}

/// A transfer of a command line.
struct FrontTransfer {
    /// The rules of the request, without its URL and its file.
    var draft: ListDraft
    /// The URL without a login, and further sources of the same file.
    var urls: [String]
    var kind: Kind
    /// Whether error statuses that are final otherwise are tried again.
    var retriesAllErrors = false
    /// The error statuses that are tried again besides those that always are.
    var retriedStatuses: Set<Int> = []
    /// The rules of the request that no key of a job file sets.
    var rules = JobSettings.HTTPRules.FrontRules()
    /// The demands besides a file; `nil` for a job.
    var answer: FrontAnswer?

    enum Kind {
        case download(Output)
        case upload(Source)
        /// A form with a file; the draft has its parts.
        case form
    }

    enum Output: Hashable {
        case standardOutput
        /// The bytes are read and thrown away, as with `/dev/null`.
        case discarded
        /// A pipe, a device or an open descriptor, which gets the bytes once.
        case stream(String)
        case file(String)
        /// A folder, empty for the working one; the server may name the file, and otherwise the rule does.
        case folder(String, name: Name)
    }

    /// The name of a file that its server does not name.
    enum Name: Hashable {
        case given(String)
        /// The last part of the URL that redirects lead to.
        case last
    }

    enum Source: Hashable {
        case standardInput
        case file(String)
    }

    /// Whether the bytes go to no file.
    var isStreamed: Bool {
        switch kind {
        case .download(.standardOutput), .download(.discarded), .download(.stream): true
        default: false
        }
    }
}
