/// The demands of a line besides the bytes of a file: the head of the answer, a part of the file, or facts about them.
///
/// A job moves a whole file and stores no answer. Such a line is therefore one request at once, as with the tool.
struct FrontAnswer: Hashable, Sendable {
    /// Whether the head precedes the body.
    var includesHead = false
    /// Whether only the head is asked for.
    var asksHead = false
    /// The file of the heads; `-` is standard output.
    var headFile: String?
    /// The text that reports on each request.
    var report: AnswerReport?
    /// The value of the field Range, without its unit.
    var range: String?
    /// The file that gets the cookies at the end.
    var jar: String?
    /// Whether cookies of answers are sent with the requests that follow.
    var keepsCookies = false
    /// The time from the first attempt after which no further one begins.
    var retryTime: Duration?
    /// Whether redirects are followed; otherwise the redirect is the answer.
    var follows = false
    /// The body of an answer that refuses.
    var refusals = Refusals.taken

    enum Refusals: Hashable, Sendable {
        /// The answer is a success like any other.
        case taken
        /// The request fails, and its body is dropped.
        case dropped
        /// The request fails, and its body is written.
        case written
    }

    /// Whether an answer is asked for that no job stores.
    var isMeant: Bool {
        includesHead || asksHead || headFile != nil || report != nil || range != nil || jar != nil
    }
}
