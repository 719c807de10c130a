/// The parts that a login may have in a queue. Each statement belongs to some of them.
package struct PostgresAccess: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The part of a process that adds jobs, sends commands and reads.
    package static let submit = PostgresAccess(rawValue: 1)
    /// The part of a process that does jobs and reads.
    package static let work = PostgresAccess(rawValue: 2)
    /// The part of a process that only reads.
    package static let read = PostgresAccess(rawValue: 4)
    package static let all: PostgresAccess = [.submit, .work, .read]

    /// The names by which the queue's owner grants the parts.
    package var names: [String] {
        [(.submit, "submit"), (.work, "work"), (.read, "read")].compactMap { part, name in
            contains(part) ? name : nil
        }
    }
}

extension PostgresRole {
    /// The part that a login needs for the role.
    package var access: PostgresAccess {
        switch self {
        case .owner: [.submit, .work]
        case .worker: .work
        case .submitter: .submit
        case .onlooker: .read
        }
    }
}
