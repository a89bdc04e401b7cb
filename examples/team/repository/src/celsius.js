/** From degrees Fahrenheit. */
export function celsius(fahrenheit) {
  return Math.round((fahrenheit * 5) / 9 - 32)
}
