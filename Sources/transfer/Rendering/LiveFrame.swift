/// The lines at the bottom of a terminal that are written again and again, and what scrolls away above them.
///
/// The cursor rests on the line below the frame and is never hidden, so that a process that is killed leaves a usable
/// terminal behind. Nothing is compared: each frame goes over the last one.
struct LiveFrame: Sendable {
    /// The widths of the lines on the screen.
    private var drawn: [Int] = []

    /// - Parameters:
    ///   - above: Lines that stay, in front of the frame.
    ///   - width: The terminal's width now; a narrower window has wrapped the lines that are there.
    mutating func draw(_ lines: [StyledLine], above: [StyledLine] = [], width: Int, colors: Bool) -> String {
        var output = home(width)
        if !above.isEmpty {
            // These may be wider than the window and wrap, so what is below has to go first.
            output += "\u{1B}[J"
            for line in above { output += line.rendered(colors: colors) + "\n" }
        }
        for line in lines { output += line.rendered(colors: colors) + "\u{1B}[K\n" }
        output += "\u{1B}[J"
        drawn = lines.map(\.width)
        return output
    }

    /// Takes the frame off the screen.
    mutating func clear(width: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        defer { drawn = [] }
        return home(width) + "\u{1B}[J"
    }

    private func home(_ width: Int) -> String {
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + max(1, width) - 1) / max(1, width)) }
        return rows > 0 ? "\r\u{1B}[\(rows)A" : "\r"
    }
}
