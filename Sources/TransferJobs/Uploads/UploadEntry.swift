import TransferCore
import TransferEngine
import TransferUpload

/// One protocol of uploads: everything that the queue and its job files know of it.
///
/// A new protocol is one such value, and one line in ``UploadRegistry``.
struct UploadEntry: Sendable {
    /// The protocol's name in a job file.
    let name: String
    /// The method of its request, where the job names no other.
    let method: String
    /// The URLs that leave no choice of the protocol. A protocol without any is chosen by its name, and its URLs are HTTP's.
    var urls = OwnURLs()
    /// Those keys of a job file that not every protocol has.
    var keys: Set<String> = []
    /// The protocol that takes its place for some options.
    var variant: @Sendable (JobSpec.Upload.Options) -> JobSpec.UploadProtocol? = { _ in nil }

    // MARK: Its URLs

    /// The URL is only where uploads are made, and the server says where each is: many uploads have the same one.
    var givesNames = false
    /// A URL that ends in a slash is a folder's. Servers of other protocols may have one such URL for all that is sent.
    var putsIntoFolders = false
    /// Files of a watched folder have a URL each, also where its entry says nothing of names.
    var hasURLPerFile = false
    /// Who is spoken to for one of its URLs; `nil` for the host that the URL names.
    var origin: (@Sendable (String, JobSettings, SecretSource) -> Origin?)?
    /// What connections to its URLs need, for those that aren't HTTP's.
    var connect: (@Sendable (inout ExchangeSettings, JobSettings, SecretSource) throws(TransferError) -> Void)?

    // MARK: Its requests

    /// The server can be asked what it has before anything is sent again.
    var canBeAsked = false
    /// The first attempt for a small file is one request and no more.
    var isOneRequest = false
    /// The URL of a PUT whose answer was lost is asked whether the file is there.
    var confirmsLostAnswers = false
    /// A word on what a refusal may be about, by its head, the request's method and its URL.
    var hint: @Sendable (ResponseHead, String, String) -> String? = { _, _, _ in nil }
    /// Makes the dialogue of an attempt; `nil` for an upload that is one request and no more.
    var dialogue: @Sendable (UploadAttempt) throws(TransferError) -> (any UploadDialogue)?
    /// Tells where a finished upload can be asked for.
    var place: Place = { (attempt) throws(TransferError) in Self.placeOverHTTP(attempt) }

    /// URLs that only one protocol has.
    struct OwnURLs: Sendable {
        /// Lower-case.
        var schemes: [String] = []
        /// Whether a URL of those schemes can be used.
        var isWellFormed: @Sendable (String) -> Bool = { _ in true }
        /// Their form, for messages.
        var form = "https://host/path"
    }

    typealias Place =
        @Sendable (UploadAttempt) throws(TransferError) -> @Sendable (UploadResult) -> VerifyingDialogue.Place

    private static func placeOverHTTP(
        _ attempt: UploadAttempt
    ) -> @Sendable (UploadResult) -> VerifyingDialogue.Place {
        let (url, isPut) = (attempt.upload.url, attempt.spec.method == "PUT")
        return { result in
            if isPut { return VerifyingDialogue.Place(url: url) }
            // What was sent to is no file, and who made one of it has to say where.
            return VerifyingDialogue.Place(url: result.url == url ? nil : result.url)
        }
    }
}
