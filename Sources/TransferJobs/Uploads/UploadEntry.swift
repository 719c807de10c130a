package import TransferCore
package import TransferEngine
package import TransferUpload

/// A protocol of uploads, with everything that the queue and its job files need to know of it.
///
/// A new protocol consists of one such value and one line in ``UploadRegistry``.
package struct UploadEntry: Sendable {
    /// The protocol's name in a job file.
    package let name: String
    /// The method of the request, where the job names no other.
    package let method: String
    /// The URLs that only this protocol handles. A protocol without such URLs is chosen by its name, and uses HTTP
    /// URLs.
    package var urls = OwnURLs()
    /// The keys of a job file that not all protocols have.
    package var keys: Set<String> = []
    /// A closure that returns the protocol to use instead for some options.
    package var variant: @Sendable (JobSpec.Upload.Options) -> JobSpec.UploadProtocol? = { _ in nil }

    // MARK: URLs

    /// Whether the URL only creates uploads and the server assigns each its own, so that many uploads have the same
    /// URL.
    package var givesNames = false
    /// Whether a URL that ends in a slash is a folder's. Servers of other protocols may have one such URL for all
    /// uploads.
    package var putsIntoFolders = false
    /// Whether each file of a watched folder gets its own URL, even where the entry has no placeholder for names.
    package var hasURLPerFile = false
    /// A closure that returns the origin contacted for one of the protocol's URLs; `nil` for the host in the URL.
    package var origin: (@Sendable (String, JobSettings, SecretSource) -> Origin?)?
    /// A closure that returns the URL to request for one of the protocol's URLs, where a name in it stands for another.
    package var target: (@Sendable (String, JobSettings, SecretSource) throws(TransferError) -> String)?
    /// A closure that prepares connections to one of the protocol's URLs, where they do not use HTTP.
    package var connect: Connect?

    // MARK: Requests

    /// Whether the server can be asked for its data before anything is sent again.
    package var canBeAsked = false
    /// Whether the first attempt for a small file is a single request.
    package var isOneRequest = false
    /// Whether, after a PUT without a response, its URL is asked whether the file exists.
    package var confirmsLostAnswers = false
    /// A closure that explains the possible cause of a refusal, from the response's head, the request's method and its
    /// URL.
    package var hint: @Sendable (ResponseHead, String, String) -> String? = { _, _, _ in nil }
    /// A closure that makes the dialogue of an attempt; `nil` for an upload that is a single request.
    package var dialogue: @Sendable (UploadAttempt) throws(TransferError) -> (any UploadDialogue)?
    /// A closure that finds the place of a finished upload.
    package var place: Place = { (attempt) throws(TransferError) in Self.placeOverHTTP(attempt) }

    /// The URLs that only one protocol has.
    package struct OwnURLs: Sendable {
        /// The schemes, in lower case.
        package var schemes: [String] = []
        /// A closure that decides whether a URL with one of the schemes is valid.
        package var isWellFormed: @Sendable (String) -> Bool = { _ in true }
        /// The form of the URLs, for messages.
        package var form = "https://host/path"
    }

    package typealias Connect =
        @Sendable (inout ExchangeSettings, JobSettings, String, SecretSource) throws(TransferError) -> Void

    package typealias Place =
        @Sendable (UploadAttempt) throws(TransferError) -> @Sendable (UploadResult) -> VerifyingDialogue.Place

    private static func placeOverHTTP(
        _ attempt: UploadAttempt
    ) -> @Sendable (UploadResult) -> VerifyingDialogue.Place {
        let (url, isPut) = (attempt.upload.url, attempt.spec.method == "PUT")
        return { result in
            if isPut { return VerifyingDialogue.Place(url: url) }
            // The URL of the upload itself is no file; the response must name the file that was created.
            return VerifyingDialogue.Place(url: result.url == url ? nil : result.url)
        }
    }
}
