/// The number of terminal columns that a character takes, by the rule of wcwidth. That rule is Unicode's East Asian
/// Width, with zero for combining marks.
package enum DisplayWidth {
    package static func of(_ scalar: UnicodeScalar) -> Int {
        guard scalar.value >= 0x300 else { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return wide.contains { $0.contains(scalar.value) } ? 2 : 1
        }
    }

    /// Returns whether a character is neither a control character nor one that changes the direction or layout of its
    /// surroundings.
    package static func isPrintable(_ scalar: UnicodeScalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value >= 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }

    /// The blocks of East Asian Width W and F, joined where only unassigned characters lie between.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x23E9...0x23EC, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653,
        0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
        0x274C...0x274C, 0x2753...0x2755, 0x2795...0x2797, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2E80...0x303E,
        0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F004...0x1F004,
        0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F320, 0x1F32D...0x1F64F,
        0x1F680...0x1F6FC, 0x1F7E0...0x1F7F0, 0x1F90C...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
