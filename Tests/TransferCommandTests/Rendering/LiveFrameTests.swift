import Testing

@testable import transfer

@Suite struct LiveFrameTests {
    @Test func overwritesTheLastFrame() {
        var frame = LiveFrame()
        #expect(frame.draw(["one", "two"], width: 80, colors: false) == "\rone\u{1B}[K\ntwo\u{1B}[K\n\u{1B}[J")
        #expect(frame.draw(["three"], width: 80, colors: false) == "\r\u{1B}[2Athree\u{1B}[K\n\u{1B}[J")
        #expect(frame.clear(width: 80) == "\r\u{1B}[1A\u{1B}[J")
        #expect(frame.clear(width: 80) == "")
    }

    @Test func linesThatStayScrollAway() {
        var frame = LiveFrame()
        _ = frame.draw(["live"], width: 80, colors: false)
        #expect(
            frame.draw(["live"], above: ["gone wrong"], width: 80, colors: false)
                == "\r\u{1B}[1A\u{1B}[Jgone wrong\nlive\u{1B}[K\n\u{1B}[J")
    }

    @Test func aNarrowerWindowHasWrappedWhatIsThere() {
        var frame = LiveFrame()
        _ = frame.draw([StyledLine(String(repeating: "x", count: 78)), ""], width: 80, colors: false)
        #expect(frame.draw([], width: 40, colors: false) == "\r\u{1B}[3A\u{1B}[J")
    }

    @Test func coloursEndWhereTheyBegan() {
        var line = StyledLine("a ")
        line.append("bad", .bad)
        #expect(line.rendered(colors: true) == "a \u{1B}[31mbad\u{1B}[0m")
        #expect(line.rendered(colors: false) == "a bad")
        #expect(line.cut(to: 4, charset: .utf8).text == "a b…")
        #expect(line.cut(to: 5, charset: .utf8) == line)
    }
}
