/// The change that an attempt makes to its job's ``UploadRecord``.
///
/// The change is a part of the job's end or step, so that both are stored in one transaction. A process that is lost
/// between two transactions would leave a record that says more, or less, than the end reports. The change is stored
/// behind a reference, because most ends have none and are passed on many times.
package indirect enum UploadChange: Sendable, Hashable {
    /// The stored record stays.
    case none
    case replaced(UploadRecord)
    case removed

    package init(_ record: UploadRecord?) { self = record.map { .replaced($0) } ?? .removed }
}
