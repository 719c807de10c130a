/// An interop version of the draft "Resumable Uploads for HTTP" (draft-ietf-httpbis-resumable-upload, "Draft Version
/// Identification").
///
/// The properties are the differences that matter to a client; a newer draft is a new row. All rows share
/// `Upload-Complete`, `Upload-Offset`, `Upload-Length` and `Upload-Limit`, the status 104 with `Location`, and
/// `application/partial-upload` for PATCH.
struct ResumableVersion: Sendable, Hashable {
    /// The value of `Upload-Draft-Interop-Version`.
    let number: Int64
    /// The member of `Upload-Limit` with the remaining lifetime of the upload in seconds.
    let lifetimeMember: String
    /// Whether `Upload-Complete: ?1` marks an answer of any status as the target's own, and its absence the opposite.
    ///
    /// Version 6 does not require the mark: there a success that answers the last bytes is the target's.
    let marksFinalAnswers: Bool

    /// The version of the drafts -09 to -12.
    static let eight = ResumableVersion(number: 8, lifetimeMember: "max-age", marksFinalAnswers: true)
    /// The version of the drafts -04 and -05; NIOResumableUpload speaks it.
    static let six = ResumableVersion(number: 6, lifetimeMember: "expires", marksFinalAnswers: false)

    /// The versions in the order in which an unknown server is asked, the newest first.
    static let table = [eight, six]

    static func numbered(_ number: Int64?) -> ResumableVersion? { table.first { $0.number == number } }
}
