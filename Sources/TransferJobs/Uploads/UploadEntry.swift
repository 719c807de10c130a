package import TransferCore
package import TransferEngine
package import TransferUpload

/// One protocol of uploads: everything that the queue and its job files know of it.
///
/// A new protocol is one such value, and one line in ``UploadRegistry``.
package struct UploadEntry: Sendable {
    /// The protocol's name in a job file.
    package let name: String
    /// The method of its request, where the job names no other.
    package let method: String
    /// The URLs that leave no choice of the protocol. A protocol without any is chosen by its name, and its URLs are HTTP's.
    package var urls = OwnURLs()
    /// Those keys of a job file that not every protocol has.
    package var keys: Set<String> = []
    /// The protocol that takes its place for some options.
    package var variant: @Sendable (JobSpec.Upload.Options) -> JobSpec.UploadProtocol? = { _ in nil }

    // MARK: Its URLs

    /// The URL is only where uploads are made, and the server says where each is: many uploads have the same one.
    package var givesNames = false
    /// A URL that ends in a slash is a folder's. Servers of other protocols may have one such URL for all that is sent.
    package var putsIntoFolders = false
    /// Files of a watched folder have a URL each, also where its entry says nothing of names.
    package var hasURLPerFile = false
    /// Who is spoken to for one of its URLs; `nil` for the host that the URL names.
    package var origin: (@Sendable (String, JobSettings, SecretSource) -> Origin?)?
    /// What connections to its URLs need, for those that aren't HTTP's.
    package var connect: (@Sendable (inout ExchangeSettings, JobSettings, SecretSource) throws(TransferError) -> Void)?

    // MARK: Its requests

    /// The server can be asked what it has before anything is sent again.
    package var canBeAsked = false
    /// The first attempt for a small file is one request and no more.
    package var isOneRequest = false
    /// The URL of a PUT whose answer was lost is asked whether the file is there.
    package var confirmsLostAnswers = false
    /// A word on what a refusal may be about, by its head, the request's method and its URL.
    package var hint: @Sendable (ResponseHead, String, String) -> String? = { _, _, _ in nil }
    /// Makes the dialogue of an attempt; `nil` for an upload that is one request and no more.
    package var dialogue: @Sendable (UploadAttempt) throws(TransferError) -> (any UploadDialogue)?
    /// Tells where a finished upload can be asked for.
    package var place: Place = { (attempt) throws(TransferError) in Self.placeOverHTTP(attempt) }

    /// URLs that only one protocol has.
    package struct OwnURLs: Sendable {
        /// Lower-case.
        package var schemes: [String] = []
        /// Whether a URL of those schemes can be used.
        package var isWellFormed: @Sendable (String) -> Bool = { _ in true }
        /// Their form, for messages.
        package var form = "https://host/path"
    }

    package typealias Place =
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
