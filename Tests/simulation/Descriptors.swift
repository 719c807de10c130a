import Glibc

/// The open descriptors of the simulator.
enum Descriptors {
    static var open: Set<Int32> { Set((3..<256).filter { fcntl($0, F_GETFD) >= 0 }) }
}

/// The descriptors of each of several simulated processes, so that the kernel's part in the death of one can be played.
struct DescriptorOwners {
    private let standing: Set<Int32>
    private var owners: [Int32: Int] = [:]

    init() { standing = Descriptors.open }

    /// Notes the descriptors that a process has opened or closed in its last step.
    mutating func note(_ process: Int) {
        let most = owners.keys.max() ?? 2
        var descriptor: Int32 = 2
        while true {
            descriptor += 1
            guard !standing.contains(descriptor) else { continue }
            if fcntl(descriptor, F_GETFD) >= 0 {
                if owners[descriptor] == nil { owners[descriptor] = process }
            } else {
                owners[descriptor] = nil
                // A new descriptor is the lowest free one.
                if descriptor > most { return }
            }
        }
    }

    func files(of process: Int) -> [String] {
        owners.filter { $0.value == process }.keys.sorted().map { descriptor in
            var name = [CChar](repeating: 0, count: 512)
            guard readlink("/proc/self/fd/\(descriptor)", &name, name.count - 1) > 0 else { return "\(descriptor)" }
            return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    mutating func closeAll(of process: Int) {
        for (descriptor, owner) in owners where owner == process {
            close(descriptor)
            owners[descriptor] = nil
        }
    }
}
