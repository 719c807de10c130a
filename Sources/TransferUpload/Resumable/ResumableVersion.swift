/// One interop version of the draft "Resumable Uploads for HTTP" (draft-ietf-httpbis-resumable-upload, "Draft Version
/// Identification"), by what differs between versions for a client. A newer draft is a new row.
///
/// Common to all rows: `Upload-Complete`, `Upload-Offset`, `Upload-Length` and `Upload-Limit`, the status 104 with
/// `Location`, and `application/partial-upload` for PATCH.
struct ResumableVersion: Sendable, Hashable {
    /// The value of `Upload-Draft-Interop-Version`.
    let number: Int64
    /// The member of `Upload-Limit` that has the seconds which the upload still lives.
    let lifetimeMember: String
    /// Whether `Upload-Complete: ?1` in an answer says that the answer is the target's own, whatever its status, and its
    /// absence that it isn't. Version 6 doesn't ask servers for it: there a success that answers the last bytes is the
    /// target's.
    let marksFinalAnswers: Bool

    /// Drafts -09 to -12.
    static let eight = ResumableVersion(number: 8, lifetimeMember: "max-age", marksFinalAnswers: true)
    /// Drafts -04 and -05; NIOResumableUpload speaks it.
    static let six = ResumableVersion(number: 6, lifetimeMember: "expires", marksFinalAnswers: false)

    /// The newest first, in the order in which an unknown server is asked.
    static let table = [eight, six]

    static func numbered(_ number: Int64?) -> ResumableVersion? { table.first { $0.number == number } }
}
