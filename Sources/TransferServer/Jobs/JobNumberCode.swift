/// The public name of a job's number (its gid), or of a batch's number (its key): 16 hexadecimal digits, like those of
/// aria2. The name alone determines the number, so that nothing has to be stored.
///
/// The mixing function is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014). It is one-to-one, and neighbouring
/// numbers get names that differ from the first digit on.
struct JobNumberCode {
    static let job = JobNumberCode(salt: 0)
    /// The code for batches: a batch's key differs from the gid of the same number.
    static let batch = JobNumberCode(salt: 0xBA7C_0000_0000_0000)

    private let salt: UInt64

    func name(_ number: Int64) -> String {
        let digits = String(Self.mixed(UInt64(bitPattern: number) ^ salt), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Returns the number with a name.
    ///
    /// - Returns: `nil` for a text that is no such name.
    func number(_ name: some StringProtocol) -> Int64? {
        guard name.utf8.count == 16, let value = UInt64(name, radix: 16), name.utf8.first != UInt8(ascii: "+") else {
            return nil
        }
        let number = Int64(bitPattern: Self.unmixed(value) ^ salt)
        return number > 0 ? number : nil
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    private static func unmixed(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ z >> 31 ^ z >> 62) &* 0x3196_42B2_D24D_8EC3
        z = (z ^ z >> 27 ^ z >> 54) &* 0x96DE_1B17_3F11_9089
        return z ^ z >> 30 ^ z >> 60
    }
}
