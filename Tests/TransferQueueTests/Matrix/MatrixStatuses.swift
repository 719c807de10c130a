/// The meaning of statuses for a retry, by RFC 9110 §15 and the specifications that registered the other statuses. The
/// list is written down independently of the code, as a table cannot verify itself.
enum MatrixStatuses {
    /// The statuses after which the same request may succeed later; an unknown 5xx is a 500.
    static let passing = [408, 421, 423, 425, 429, 500, 502, 503, 504, 509, 511, 520, 522, 530, 599]
    /// The statuses after which a repetition changes nothing; an unknown 4xx is a 400.
    static let final = [
        400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 417, 418, 422, 424, 426, 428, 431,
        451, 499, 501, 505, 507, 508, 510,
    ]
}
