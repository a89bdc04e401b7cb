// Runs in the page, as it stands here: how wide it is, and which of its texts are hard to read.
;(() => {
  const CONTRAST_MIN = 4.5
  const PIXELS_MIN = 9
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })

  const toRgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = colour
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }

  const luminance = (rgba) => {
    const [red, green, blue] = rgba.map((value) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }

  const behind = (element) => {
    if (!element) return [255, 255, 255, 255]
    const rgba = toRgba(getComputedStyle(element).backgroundColor)
    return rgba[3] === 255 ? rgba : behind(element.parentElement)
  }

  const faint = []
  const tiny = []
  let texts = 0
  for (const element of document.querySelectorAll('main *')) {
    const text = [...element.childNodes].find((node) => node.nodeType === 3 && node.textContent.trim() !== '')
    if (!text || element.localName === 'title') continue
    texts++
    const said = text.textContent.trim()
    const style = getComputedStyle(element)
    const front = luminance(toRgba(element instanceof SVGElement ? style.fill : style.color))
    const back = luminance(behind(element))
    const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05)
    if (contrast < CONTRAST_MIN) faint.push(`${contrast.toFixed(2)} ${said}`)
    const scale = element instanceof SVGGraphicsElement ? element.getScreenCTM().a : 1
    const pixels = Number.parseFloat(style.fontSize) * scale
    if (pixels < PIXELS_MIN) tiny.push(`${pixels.toFixed(1)} ${said}`)
  }
  return { width: document.documentElement.scrollWidth, texts, faint, tiny }
})()
